"""Serve the pack of this bundle to one client over stdin and stdout."""

import sys
from pathlib import Path

BUNDLE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BUNDLE / "lib"))

from lorepack.errors import LorepackError  # noqa: E402
from lorepack_server.cli.mcp import mcp  # noqa: E402

if __name__ == "__main__":
    pack, *options = sys.argv[1:]
    try:
        mcp([str(BUNDLE / pack), *options], prog_name="lorepack mcp")
    except LorepackError as error:
        sys.exit(f"lorepack: {error}")
