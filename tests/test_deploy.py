"""The ways to run a server: each file by its own linter, and a server that may write nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lorepack.cli import cli
from tests.conftest import LOREPACK, ROOT

DEPLOY = ROOT / "deploy"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


def test_the_container_file_is_clean() -> None:
    done = run(tool("hadolint"), "--failure-threshold", "info", str(DEPLOY / "Dockerfile"))
    assert done.returncode == 0, done.stdout
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^USER [1-9]\d+", text, re.M) and "HEALTHCHECK" in text


@pytest.mark.parametrize("version", ["1.28", "1.33"])
def test_the_cluster_example_is_valid(version: str) -> None:
    done = run(
        tool("kubernetes-validate"), "-k", version, "--strict", str(DEPLOY / "kubernetes.yaml")
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("passed for resource") == 4


def test_the_unit_is_valid_and_hardened() -> None:
    analyze, unit = tool("systemd-analyze"), str(DEPLOY / "lorepack.service")
    said = run(analyze, "verify", "--recursive-errors=no", unit).stderr.strip().splitlines()
    assert [
        line for line in said if "/opt/lorepack/bin/lorepack is not executable" not in line
    ] == []
    security = run(analyze, "security", "--offline=true", "--threshold=20", unit)
    assert security.returncode == 0, security.stdout[-300:]


def test_pm2_reads_its_file() -> None:
    script = f"console.log(JSON.stringify(require({json.dumps(str(DEPLOY / 'pm2.config.cjs'))})))"
    done = run(tool("node"), "-e", script)
    (app,) = json.loads(done.stdout)["apps"]
    assert (app["name"], app["interpreter"]) == ("lorepack", "none")


@pytest.mark.parametrize(
    "name", ["Dockerfile", "lorepack.service", "kubernetes.yaml", "pm2.config.cjs"]
)
def test_the_options_that_they_give_exist(name: str) -> None:
    known = CliRunner().invoke(cli, ["serve", "--help"]).output
    used = set(
        re.findall(r"--(?:host|port|allow-host|tools|no-watch)\b", (DEPLOY / name).read_text())
    )
    assert all(option in known for option in used)


def test_a_server_needs_to_write_nothing(demo_pack: Path, tmp_path: Path) -> None:
    """The whole file system is read-only but an empty /tmp, as in the container."""
    if run("unshare", "-m", "true").returncode:
        pytest.skip("no mount namespaces here")
    script = tmp_path / "run.sh"
    pack = tmp_path / "kept.lorepack"
    shutil.copy(demo_pack, pack)
    script.write_text(
        f"""set -e
mkdir -p {ROOT}/build/pack; cp {pack} {ROOT}/build/pack/demo-1.0.0.lorepack
mount -t tmpfs none /tmp; mount -o remount,ro,bind / || exit 77
XDG_STATE_HOME=/nowhere {LOREPACK} serve {ROOT}/build/pack --port 0 >/tmp/out 2>/tmp/log &
for n in $(seq 100); do grep -q Serving /tmp/out && break; sleep 0.2; done
{sys.executable} - "$(sed -n 's/^Serving on //p' /tmp/out)" <<'PY'
import sys, urllib.request as r
for path in ("healthz", "readyz", "api/demo/search?query=pack", "site/demo/"):
    assert r.urlopen(sys.argv[1] + "/" + path).status == 200, path
PY
kill %1; wait %1 || true; find /tmp -type f
"""
    )
    done = run("unshare", "-m", "bash", str(script))
    shutil.rmtree(ROOT / "build" / "pack", ignore_errors=True)
    if done.returncode == 77:
        pytest.skip("the file system cannot be made read-only here")
    assert done.returncode == 0, done.stderr
    assert {Path(line).name for line in done.stdout.split()} == {"out", "log"}
