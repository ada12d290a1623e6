"""A release: its files, each checked by who reads it, and the workflow that makes it on a tag."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import pytest
import yaml
from click.testing import CliRunner, Result
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from lorepack.cli import cli
from lorepack.fetch import pull_pack
from lorepack.pack.signature import new_keys, sign_pack
from tests.conftest import ROOT, Built, write_files
from tests.gits import git
from tests.shelf import Shelf
from tests.test_deploy import run as run_tool
from tests.test_deploy import tool

Build = Callable[..., Built]
PAGES = {"index.md": "# Begin\n\nSee [[Install]].", "Install.md": "# Install\n\nWith care."}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.fixture
def release(build: Build, tmp_path: Path) -> Path:
    old = build(PAGES).path
    new = build({**PAGES, "New.md": "# New\n\n[[Install]]"}, version="1.1.0").path
    done = run("publish", new, "--dir", tmp_path / "dist", "--previous", old.parent,
               "--url", "https://github.com/me/notes/releases/download/v1.1.0/")  # fmt: skip
    assert done.exit_code == 0, done.output
    return tmp_path / "dist"


def test_all_that_a_release_holds(release: Path) -> None:
    names = {path.name for path in release.iterdir()}
    assert names == {
        "test-1.1.0.lorepack", "test-1.1.0-site.tar.gz", "test-1.1.0.mcpb", "test-1.1.0.cdx.json",
        "test-1.1.0-from-1.0.0.lorepack-delta", "CHANGELOG.md", "SHA256SUMS", "manifest.json",
        "server.json",
    }  # fmt: skip
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"],
        cwd=release,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0 and len(checked.stdout.splitlines()) == len(names) - 1
    changes = (release / "CHANGELOG.md").read_text()
    assert "## 1.1.0" in changes and "- New (`v/New.md`)" in changes


def test_the_same_bytes_again(release: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    run("publish", release / "test-1.1.0.lorepack", "--dir", again,
        "--previous", tmp_path / "out" / "test-1.0.0.lorepack",
        "--url", "https://github.com/me/notes/releases/download/v1.1.0/")  # fmt: skip
    for path in release.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_bill_of_materials_is_valid(demo_pack: Path, tmp_path: Path) -> None:
    run("publish", demo_pack, "--dir", tmp_path / "dist")
    text = (tmp_path / "dist" / f"{demo_pack.stem}.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    parts = {part["name"]: part for part in json.loads(text)["components"]}
    assert parts["guide"]["licenses"] == [{"expression": "MIT"}]
    model = parts["multilingual-e5-small"]
    assert model["type"] == "machine-learning-model" and len(model["hashes"][0]["content"]) == 64


def test_the_site_archive_is_the_site(release: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(release / "test-1.1.0-site.tar.gz", tmp_path / "unpacked")
    assert run("site", release / "test-1.1.0.lorepack", tmp_path / "site").exit_code == 0
    here, there = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "unpacked", tmp_path / "site")
    )
    assert here == there
    assert gzip.decompress((release / "test-1.1.0-site.tar.gz").read_bytes())


def test_the_registry_entry(release: Path) -> None:
    entry = json.loads((release / "server.json").read_text())
    assert entry["name"] == "io.github.me/test" and len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert package["identifier"].endswith("/releases/download/v1.1.0/test-1.1.0.mcpb")
    bundle = (release / "test-1.1.0.mcpb").read_bytes()
    assert package["fileSha256"] == hashlib.sha256(bundle).hexdigest()


def test_the_bundle_answers_with_the_server_that_it_holds(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    shutil.unpack_archive(release / "test-1.1.0.mcpb", folder, "zip")
    start = json.loads((folder / "manifest.json").read_text())["server"]
    run_by, *arguments = start["mcp_config"]["args"]
    # What uv would run, by an interpreter that has the libraries, and has another Lorepack too.
    assert (start["mcp_config"]["command"], run_by) == ("uv", "run")
    script = arguments[arguments.index("${__dirname}") + 1 :]
    command = StdioServerParameters(command=sys.executable, args=script, cwd=folder)

    async def ask() -> str:
        async with stdio_client(command) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            answer = await session.call_tool("find_chunks", {"query": "install with care"})
            return str(answer.content[0].text)  # type: ignore[union-attr]

    assert "With care." in anyio.run(ask)
    told = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; sys.argv = ['m']; "
         "runpy.run_path('server/main.py', run_name='x'); import lorepack_server as s; "
         "print(s.__path__)"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(folder / "lib") in told.stdout


def test_a_pack_too_large_for_a_delta_is_published_without(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = build(PAGES).path, build(PAGES, version="1.1.0").path
    monkeypatch.setattr("lorepack.pack.delta.MAX_BYTES", 1000)
    done = run("publish", new, "--dir", tmp_path / "dist", "--previous", old)
    assert done.exit_code == 0 and "delta" not in done.output
    (entry,) = json.loads((tmp_path / "dist" / "manifest.json").read_text())["packs"]
    assert entry["deltas"] == []


def test_a_signature_goes_along(build: Build, tmp_path: Path) -> None:
    pack = build(PAGES).path
    public = new_keys(tmp_path / "key", None)
    sign_pack(pack, tmp_path / "key", None)
    assert run("publish", pack, "--dir", tmp_path / "dist").exit_code == 0
    published = tmp_path / "dist" / pack.name
    assert run("verify", published, "--key", public).exit_code == 0


def test_dry_run_and_refusals(build: Build, tmp_path: Path) -> None:
    pack = build(PAGES).path
    done = run("publish", pack, "--dir", tmp_path / "dist", "--dry-run", "--json")
    assert {"SHA256SUMS", pack.name} <= {file["file"] for file in json.loads(done.stdout)}
    assert not (tmp_path / "dist").exists()
    full = write_files(tmp_path / "full", {"mine.txt": "mine"})
    assert "is not empty, and no release" in str(run("publish", pack, "--dir", full).exception)
    other = tmp_path / "other.lorepack"
    other.write_bytes(pack.read_bytes()[:-4096])
    assert run("publish", other, "--dir", tmp_path / "dist").exit_code != 0
    assert "no name of an MCP server" in str(
        run("publish", pack, "--dir", tmp_path / "dist", "--mcp-name", "a b").exception
    )
    assert not (tmp_path / "dist").exists() and (full / "mine.txt").exists()


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_workflows_are_valid(tmp_path: Path, forge: str) -> None:
    recipe = write_project(tmp_path)
    done = run("init", "workflow", forge, recipe, "--folder", tmp_path, "--min-recall", "0.9")
    assert done.exit_code == 0, done.output
    (file,) = map(Path, done.output.split())
    schema = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}[forge]
    transform = ["--data-transform", "gitlab-ci"] if forge == "gitlab" else []
    checked = run_tool(tool("check-jsonschema"), "--builtin-schema", schema, *transform, str(file))
    assert checked.returncode == 0, checked.stdout
    assert run("init", "workflow", forge, recipe, "--folder", tmp_path).exit_code != 0
    if forge == "github":
        zizmor(tmp_path, file)


def test_the_action_is_valid(tmp_path: Path) -> None:
    action = str(ROOT / "action.yml")
    checked = run_tool(
        tool("check-jsonschema"), "--builtin-schema", "vendor.github-actions", action
    )
    assert checked.returncode == 0, checked.stdout
    zizmor(tmp_path, Path(action))


def zizmor(scratch: Path, file: Path) -> None:
    """Audit a workflow; actions are named by version, as hashes cannot be looked up here."""
    config = scratch / "zizmor.yml"
    config.write_text(
        'rules: {unpinned-uses: {config: {policies: {"*": ref-pin}}},'
        # What is put on the PATH is the environment that the step before made.
        " github-env: {ignore: [action.yml]}}"
    )
    audited = run_tool(
        tool("zizmor"), "--offline", "--no-progress", "--config", str(config), str(file)
    )
    assert audited.returncode == 0, audited.stdout


def write_project(folder: Path) -> Path:
    write_files(folder, {f"notes/{name}": text for name, text in PAGES.items()})
    recipe = folder / "packs" / "notes.toml"
    recipe.parent.mkdir()
    recipe.write_text(
        '[pack]\nname = "notes"\nversion = "0.0.0"\ntitle = "Notes"\n'
        '[[source]]\nname = "n"\nkind = "vault"\npath = "../notes"\n[embed]\nmodel = "none"\n'
        '[[eval]]\nquery = "install with care"\nexpect = "n/Install.md"\n'
    )
    return recipe


class Forge:
    """What GitHub gives an action: inputs, contexts, files for outputs; and `gh`, to a folder."""

    def __init__(self, folder: Path, shelf: Shelf) -> None:
        self.folder, self.shelf = folder, shelf
        self.bare, self.checkout = folder / "notes.git", folder / "notes"
        self.assets = folder / "assets"
        programs = folder / "bin"
        programs.mkdir()
        gh = programs / "gh"
        gh.write_text(
            '#!/bin/bash\nset -eu\n[ "$1 $2" = "release create" ]\ntag="$3"; shift 3\n'
            f'mkdir -p "{self.assets}/$tag"\n'
            'for file in "$@"; do case "$file" in dist/*) '
            f'cp "$file" "{self.assets}/$tag/" ;; --verify-tag) git rev-parse "$tag" ;; esac; done\n'
        )
        gh.chmod(0o755)
        beside = Path(sys.executable).parent
        self.path = f"{programs}:{beside}:{os.environ['PATH']}"

    def release(self, tag: str) -> None:
        """Let the version be the newest release, as GitHub's API tells of it."""
        assets = []
        for file in (self.assets / tag).iterdir():
            self.shelf.files[f"/d/{tag}/{file.name}"] = file.read_bytes()
            url = f"{self.shelf.address}/d/{tag}/{file.name}"
            assets.append({"name": file.name, "browser_download_url": url})
        body = json.dumps({"tag_name": tag, "assets": assets}).encode()
        self.shelf.answers["/repos/me/notes/releases/latest"] = (200, {}, body)

    def run(self, tag: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the steps of the action in order, as the runner does, until one fails."""
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        given = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
        given |= {"token": "t", "attest": "false"} | inputs
        contexts = {f"inputs.{name}": value for name, value in given.items()}
        contexts |= {
            "github.action_path": str(ROOT), "runner.temp": str(self.folder / "temp"),
            "github.ref_name": tag, "github.ref_type": "tag",
            "github.ref_type == 'tag' && github.ref_name || ''": tag,
        }  # fmt: skip
        outputs = self.folder / "outputs"
        for step in action["runs"]["steps"]:
            if "run" not in step or not self.wanted(step.get("if", ""), contexts):
                continue
            outputs.write_text("")
            environment = {
                **os.environ, "PATH": self.path, "GITHUB_REPOSITORY": "me/notes",
                "GITHUB_API_URL": self.shelf.address, "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_OUTPUT": str(outputs), "GITHUB_PATH": str(self.folder / "path"),
                **{name: self.filled(text, contexts) for name, text in step.get("env", {}).items()},
            }  # fmt: skip
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.checkout, env=environment, capture_output=True, text=True, timeout=300,
                check=False,
            )  # fmt: skip
            if done.returncode:
                return done
            for line in outputs.read_text().splitlines():
                name, _, value = line.partition("=")
                contexts[f"steps.{step['id']}.outputs.{name}"] = value
        return done

    def filled(self, text: str, contexts: Mapping[str, str]) -> str:
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: contexts[match[1]], text)

    def wanted(self, condition: str, contexts: Mapping[str, str]) -> bool:
        for part in condition.split(" && ") if condition else ():
            name, sign, value = re.fullmatch(r"(\S+) (==|!=) '(.*)'", part).groups()  # type: ignore[union-attr]
            if (contexts[name] == value) != (sign == "=="):
                return False
        return True


@pytest.fixture
def forge(tmp_path: Path, shelf: Shelf) -> Forge:
    forge = Forge(tmp_path, shelf)
    git(tmp_path, "init", "--quiet", "--bare", str(forge.bare))
    git(tmp_path, "clone", "--quiet", str(forge.bare), str(forge.checkout))
    write_project(forge.checkout)
    tag(forge, "v1.0.0")
    return forge


def tag(forge: Forge, name: str) -> None:
    git(forge.checkout, "add", "notes", "packs")
    git(forge.checkout, "commit", "--quiet", "-m", name)
    git(forge.checkout, "tag", name)
    git(forge.checkout, "push", "--quiet", "origin", "HEAD", name)


def test_a_tag_publishes(forge: Forge, tmp_path: Path) -> None:
    done = forge.run("v1.0.0", recipe="packs/notes.toml", **{"min-recall": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    forge.release("v1.0.0")
    assert "<title>" in git(forge.bare, "show", "gh-pages:index.html")
    assert git(forge.bare, "ls-tree", "--name-only", "gh-pages", ".nojekyll")

    write_files(forge.checkout, {"notes/Second.md": "# Second\n\nSee [[Install]]."})
    tag(forge, "v1.1.0")
    for made in ("lorepack-out", "dist", "lorepack-site"):
        shutil.rmtree(forge.checkout / made)
    done = forge.run("v1.1.0", recipe="packs/notes.toml", **{"min-recall": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    forge.release("v1.1.0")
    assert "- Second (`n/Second.md`)" in (forge.assets / "v1.1.0" / "CHANGELOG.md").read_text()
    assert git(forge.bare, "show", "gh-pages:n/second/index.html")

    # A reader who has the version before fetches what changed.
    data = tmp_path / "data"
    base = f"{forge.shelf.address}/d"
    pull_pack(f"{base}/v1.0.0/notes-1.0.0.lorepack", data)
    forge.shelf.asked.clear()
    pulled = pull_pack(f"{base}/v1.1.0/notes-1.1.0.lorepack", data)
    assert pulled.version == "1.1.0"
    fetched = {path.rpartition("/")[2] for path, _ in forge.shelf.asked}
    assert fetched == {"SHA256SUMS", "manifest.json", "notes-1.1.0-from-1.0.0.lorepack-delta"}


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"fail-on": "warning"}, "broken-link"),
        ({"min-recall": "1", "fail-on": ""}, ""),
        ({"recipe": "packs/none.toml"}, "does not exist"),
    ],
)
def test_a_gate_that_does_not_open(forge: Forge, inputs: dict[str, str], says: str) -> None:
    write_files(forge.checkout, {"notes/Broken.md": "[[Nowhere]]"})
    recipe = forge.checkout / "packs" / "notes.toml"
    recipe.write_text(f'{recipe.read_text()}[[eval]]\nquery = "xyzzy"\nexpect = "n/Broken.md"\n')
    done = forge.run("v1.0.0", **{"recipe": "packs/notes.toml", **inputs})
    assert done.returncode != 0 and says in done.stdout + done.stderr
    assert not (forge.checkout / "dist").exists() and not forge.assets.exists()
