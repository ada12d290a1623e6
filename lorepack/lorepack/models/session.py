"""Open ONNX models with the settings that all of them get."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lorepack.errors import LorepackError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[attr-defined]


def open_session(model: Path | bytes, threads: int = 1) -> InferenceSession:
    """Open a model from a file, or from bytes that may not refer to any file.

    Args:
        threads: of one text; ``LOREPACK_THREADS`` wins.

    Raises:
        LorepackError: onnxruntime does not take it.
    """
    from onnxruntime import (  # type: ignore[attr-defined]
        InferenceSession,
        SessionOptions,
    )

    # The name of the one protobuf key by which a model refers to other files. Protobuf stores text
    # as it is, so a model without these bytes has no such key.
    if isinstance(model, bytes) and b"location" in model:
        raise LorepackError("the carried model refers to files", "build the pack again")
    options = SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("LOREPACK_THREADS", "") or threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    given = model if isinstance(model, bytes) else str(model)
    try:
        return InferenceSession(given, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        # onnxruntime raises classes of its own that share no base but this.
        name = "the carried model" if isinstance(model, bytes) else str(model)
        raise LorepackError(f"{name} cannot be used ({error})", "export it again") from error
