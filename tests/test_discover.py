"""A project's manifests, all kinds of them, become a table and a recipe; none of them is trusted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lorepack.errors import LorepackError
from lorepack.manifests.model import Wanted
from lorepack.manifests.tree import READERS, WORKSPACES, find_root, project_dependencies
from lorepack_builder.discover import discover, recipe_text
from lorepack_builder.discover.registries import (
    HOSTS,
    KEPT,
    NoAnswer,
    _fetch,
    ask_registry,
    find_repos,
)
from lorepack_builder.recipe import read_recipe
from tests.conftest import LOREPACK, Files, write_files

Listed = dict[str, tuple[str, str]]


def listed(folder: Path, files: Files | None = None) -> Listed:
    """``ecosystem:package`` → (version, repo) of a project of ``files``."""
    found = project_dependencies(write_files(folder, files or {}))
    assert found is not None
    return {f"{w.ecosystem}:{w.package}": (w.version, w.repo) for w, _ in found[1]}


PROJECTS: dict[str, tuple[Files, Listed]] = {
    "pyproject": ({"pyproject.toml": (
        '[project]\nname = "x"\ndependencies = ["Flask_Login[async]>=3.1,<4; python_version > \'3.8\'",\n'
        ' "tool @ git+https://github.com/o/tool.git@v1.2", "plain"]\n'
        '[project.optional-dependencies]\ndocs = ["sphinx==7.10"]\n[dependency-groups]\n'
        'dev = ["pytest>=8", {include-group = "other"}]\n[tool.poetry.dependencies]\n'
        'python = "^3.9"\nrich = "^13.10"\nfork = {git = "https://github.com/o/fork"}\n'
    )}, {
        "pypi:flask-login": (">=3.1,<4", ""), "pypi:tool": ("", "o/tool"), "pypi:plain": ("", ""),
        "pypi:sphinx": ("==7.10", ""), "pypi:pytest": (">=8", ""), "pypi:rich": ("^13.10", ""),
        "pypi:fork": ("", "o/fork"),
    }),
    "requirements": ({
        "requirements.txt": (
            "# a comment\n-r more.txt\n-r ../../etc/passwd\n--index-url https://x.example/simple\n"
            'django==4.10 --hash=sha256:abc \\\n    --hash=sha256:def\nuvicorn[standard] ; sys_platform != "win32"  # why\n'
            "-e git+https://github.com/o/edit.git#egg=Edit_Me\nhttps://github.com/o/zipped/archive/main.zip\n"
        ),
        "more.txt": "attrs\n-r requirements.txt\n",
    }, {
        "pypi:django": ("==4.10", ""), "pypi:uvicorn": ("", ""), "pypi:edit-me": ("", "o/edit"),
        "pypi:zipped": ("", "o/zipped"), "pypi:attrs": ("", ""),
    }),
    "npm workspace with catalogues": ({
        "package.json": json.dumps({"workspaces": ["packages/*"], "dependencies": {"left": "^1.10.0"}}),
        "pnpm-workspace.yaml": "packages: ['apps/*']\ncatalog:\n  react: 18.10\ncatalogs:\n  old:\n    react: ^17\n",
        "packages/a/package.json": json.dumps({"dependencies": {"@s/b": "workspace:*", "vue": "3"},
                                               "devDependencies": {"git": "github:o/git#v1"}}),
        "apps/web/package.json": json.dumps({"dependencies": {
            "react": "catalog:", "alias": "npm:real@^2", "local": "file:../x",
            "url": "git+ssh://git@github.com/o/url.git"}}),
    }, {
        "npm:left": ("^1.10.0", ""), "npm:react": ("18.10", ""), "npm:vue": ("3", ""),
        "npm:git": ("", "o/git"), "npm:real": ("^2", ""), "npm:url": ("", "o/url"),
    }),
    "cargo workspace": ({
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n[workspace.dependencies]\nserde = "1.10"\n',
        "crates/a/Cargo.toml": (
            '[dependencies]\nserde = {workspace = true}\nshort = {package = "long-name", version = "0.4.10"}\n'
            'own = {path = "../b"}\nfork = {git = "https://github.com/o/fork"}\n'
            "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n[dev-dependencies]\nproptest = \"1\"\n"
        ),
    }, {
        "cargo:serde": ("1.10", ""), "cargo:long-name": ("0.4.10", ""), "cargo:fork": ("", "o/fork"),
        "cargo:libc": ("0.2", ""), "cargo:proptest": ("1", ""),
    }),
    "go workspace": ({
        "go.work": "go 1.22\n\nuse (\n\t./a\n\t./b\n)\n",
        "a/go.mod": (
            "module x\n\nrequire github.com/o/one v1.10.0\n\nrequire (\n\tgolang.org/x/net v0.1.0\n"
            "\tgopkg.in/yaml.v3 v3.0.1\n\tgithub.com/o/far/v2 v2.0.0 // indirect\n\tinner.corp/secret v1.0.0\n"
            "\tgithub.com/o/old v1.0.0\n)\nreplace github.com/o/old => github.com/p/new v1.1.0\n"
        ),
        "b/go.mod": "module y\nrequire k8s.io/client-go v0.30.0\n",
    }, {
        "go:github.com/o/one": ("v1.10.0", "o/one"), "go:golang.org/x/net": ("v0.1.0", "golang/net"),
        "go:gopkg.in/yaml.v3": ("v3.0.1", "go-yaml/yaml"), "go:inner.corp/secret": ("v1.0.0", ""),
        "go:github.com/o/old": ("v1.0.0", "p/new"),
        "go:k8s.io/client-go": ("v0.30.0", "kubernetes/client-go"),
    }),
    "maven": ({
        "pom.xml": (
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><groupId>g</groupId><artifactId>p</artifactId>'
            "<version>1</version><properties><s.v>6.1.10</s.v><v>${s.v}</v></properties>"
            "<modules><module>a</module></modules><dependencyManagement><dependencies>"
            "<dependency><groupId>org.s</groupId><artifactId>web</artifactId><version>${v}</version></dependency>"
            "<dependency><groupId>org.b</groupId><artifactId>bom</artifactId><version>4.13</version>"
            "<type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement></project>"
        ),
        "a/pom.xml": (
            "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version></parent>"
            "<artifactId>a</artifactId><dependencies>"
            "<dependency><groupId>org.s</groupId><artifactId>web</artifactId></dependency>"
            "<dependency><groupId>org.t</groupId><artifactId>test</artifactId><version>${unknown}</version></dependency>"
            "</dependencies></project>"
        ),
    }, {
        "maven:org.b:bom": ("4.13", ""), "maven:org.s:web": ("6.1.10", ""),
        "maven:org.t:test": ("${unknown}", ""),
    }),
    "gradle": ({
        "build.gradle": (
            "dependencies {\n  implementation 'org.a:one:1.10'\n  // implementation 'no:no:1'\n"
            "  testImplementation group: 'org.b', name: 'two', version: '2'\n"
            '  implementation platform("org.c:bom:3")\n  api "org.d:four:$v"\n}\n'
        ),
        "app/build.gradle.kts": 'dependencies {\n  implementation("org.e:five:5")\n  implementation(libs.six.core)\n}\n',
        "gradle/libs.versions.toml": (
            '[versions]\nsix = "6.10"\n[libraries]\nsix-core = { module = "org.f:six", version.ref = "six" }\n'
        ),
    }, {
        "maven:org.a:one": ("1.10", ""), "maven:org.b:two": ("2", ""), "maven:org.c:bom": ("3", ""),
        "maven:org.d:four": ("", ""), "maven:org.e:five": ("5", ""), "maven:org.f:six": ("6.10", ""),
    }),
    "dotnet": ({
        "All.sln": 'Project("{X}") = "App", "src\\App\\App.csproj", "{Y}"\nEndProject\n',
        "Directory.Packages.props": '<Project><ItemGroup><PackageVersion Include="Central" Version="1.10"/></ItemGroup></Project>',
        "src/App/App.csproj": (
            '<Project><ItemGroup><PackageReference Include="Central"/><PackageReference Include="Own" Version="2.0"/>'
            "<PackageReference Include=\"Nested\"><Version>3.1</Version></PackageReference></ItemGroup></Project>"
        ),
    }, {
        "nuget:Central": ("1.10", ""), "nuget:Own": ("2.0", ""), "nuget:Nested": ("3.1", ""),
    }),
    "composer and bundler": ({
        "composer.json": json.dumps({"require": {"php": ">=8", "ext-json": "*", "o/lib": "^2.10"},
                                     "require-dev": {"phpunit/phpunit": "^11"}}),
        "Gemfile.lock": (
            "GIT\n  remote: https://github.com/o/fork.git\n  revision: abc\n  specs:\n    forked (0.1)\n\n"
            "GEM\n  remote: https://gems.example/\n  specs:\n    rails (7.1.10)\n      rack (>= 2)\n    rack (3.0)\n\n"
            "DEPENDENCIES\n  forked!\n  rails (~> 7.1)\n\nBUNDLED WITH\n   2.5\n"
        ),
    }, {
        "packagist:o/lib": ("^2.10", ""), "packagist:phpunit/phpunit": ("^11", ""),
        "rubygems:rails": ("7.1.10", ""), "rubygems:forked": ("0.1", "o/fork"),
    }),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), PROJECTS.values(), ids=PROJECTS)
def test_each_ecosystem(tmp_path: Path, files: Files, expected: Listed) -> None:
    assert listed(tmp_path, files) == expected


def test_every_kind_of_manifest_is_known_and_tried() -> None:
    kinds = {*READERS, *WORKSPACES}
    assert len(kinds) == 15
    tried = {name.rpartition("/")[2] for files, _ in PROJECTS.values() for name in files}
    import fnmatch

    assert all(any(fnmatch.fnmatchcase(name, kind) for name in tried) for kind in kinds)


def test_a_root_manifest_hides_no_nested_one(tmp_path: Path) -> None:
    files = {"package.json": "{}", "py/pyproject.toml": '[project]\ndependencies = ["a"]\n',
             "node_modules/x/package.json": '{"dependencies": {"no": "1"}}'}  # fmt: skip
    assert listed(tmp_path, files) == {"pypi:a": ("", "")}


def test_the_root_is_the_first_above_and_never_beyond_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(
        tmp_path, {"package.json": "{}", "home/a/b/c/x.txt": "", "home/a/go.mod": "module m\n"}
    )
    assert find_root(tmp_path / "home" / "a" / "b" / "c") == tmp_path / "home" / "a"
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "home" / "a" / "go.mod").unlink()
    assert find_root(tmp_path / "home" / "a" / "b") is None
    deep = tmp_path.joinpath("home", *"d" * 40)
    deep.mkdir(parents=True)
    write_files(tmp_path / "home", {"go.mod": "module m\n"})
    assert find_root(deep) is None


HOSTILE: dict[str, tuple[Files, str]] = {
    "large": ({"package.json": "{" + " " * 1_100_000 + "}"}, "is larger than 1000 kB"),
    "NUL": ({"package.json": b'{"a": "\0"}'}, "holds a NUL character"),
    "not UTF-8": ({"go.mod": b"\xff\xfe"}, "is not valid UTF-8"),
    "no JSON": ({"package.json": "{nonsense"}, "cannot be understood"),
    "deep JSON": ({"package.json": "[" * 100_000}, "cannot be understood"),
    "no table": ({"package.json": "[]"}, "holds no table"),
    "no TOML": ({"Cargo.toml": "[a\n"}, "cannot be understood"),
    "XML bomb": ({"pom.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]><project>&a;</project>'}, "document type"),
    "no XML": ({"a.csproj": "<Project"}, "is no XML"),
    "YAML bomb": ({"pnpm-workspace.yaml": "a: &a [x]\n" + "b: [" + "*a, " * 200 + "]\n"}, "repeats"),
    "YAML object": ({"pnpm-workspace.yaml": "a: !!python/object/apply:os.system [ls]\n"}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("files", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_manifest_is_reported_and_the_rest_read(
    tmp_path: Path, files: Files, message: str
) -> None:
    write_files(tmp_path, {**files, "sub/pyproject.toml": '[project]\ndependencies = ["good"]\n'})
    project = discover(tmp_path, offline=True)
    assert [entry.package for entry in project.dependencies] == ["good"]
    assert any(message in problem for _, problem in project.problems) or not message


def test_links_and_members_outside_are_not_opened(tmp_path: Path) -> None:
    write_files(tmp_path / "secret", {"package.json": '{"dependencies": {"secret": "1"}}',
                                      "pom.xml": "<project><properties><v>secret</v></properties></project>"})  # fmt: skip
    root = write_files(tmp_path / "project", {
        "package.json": '{"workspaces": ["../secret", "linked", "/etc", "../../**"]}',
        "Cargo.toml": '[workspace]\nmembers = ["../secret"]\n', "go.work": "use ../secret\n",
        "pom.xml": "<project><parent><relativePath>../secret/pom.xml</relativePath></parent><modules>"
                   "<module>../secret</module></modules><dependencies><dependency><groupId>g</groupId>"
                   "<artifactId>a</artifactId><version>${v}</version></dependency></dependencies></project>",
    })  # fmt: skip
    (root / "linked").symlink_to(tmp_path / "secret")
    (root / "requirements.txt").symlink_to(tmp_path / "secret" / "package.json")
    found = listed(root)
    assert found == {"maven:g:a": ("${v}", "")}
    problems = dict(discover(root, offline=True).problems)
    assert problems["requirements.txt"] == "is a link, or no file"


def test_members_are_limited(tmp_path: Path) -> None:
    files = {
        f"packages/p{n}/package.json": json.dumps({"dependencies": {f"d{n}": "1"}})
        for n in range(300)
    }
    write_files(tmp_path, {"package.json": '{"workspaces": ["packages/*"]}', **files})
    project = discover(tmp_path, offline=True)
    assert len(project.dependencies) <= 256
    assert any("more than 256 manifests" in problem for _, problem in project.problems)


def test_parents_that_go_in_circles_end(tmp_path: Path) -> None:
    pom = "<project><parent><relativePath>pom.xml</relativePath></parent></project>"
    assert listed(tmp_path, {"pom.xml": pom, "requirements.txt": "-r requirements.txt\na\n"}) == {
        "pypi:a": ("", "")
    }


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOREPACK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_answers_are_kept_for_a_week_and_failures_are_not(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, none, down = (Wanted("npm", name) for name in ("good", "none", "down"))
    asked: list[str] = []

    def ask(entry: Wanted) -> str:
        asked.append(entry.package)
        if entry == down:
            raise NoAnswer("down")
        return {"good": "o/good"}.get(entry.package, "")

    for _ in range(2):
        found, unknown = find_repos([good, none, down], offline=False, ask=ask)
        assert (found, unknown) == ({good: "o/good", none: ""}, [down])
    assert sorted(asked) == ["down", "down", "good", "none"]
    assert find_repos([good, down], offline=True, ask=ask)[1] == [down]
    now = time.time()
    monkeypatch.setattr("lorepack_builder.discover.registries.time.time", lambda: now + KEPT + 1)
    assert find_repos([good], offline=True)[1] == [good]


def test_offline_asks_nobody(cache: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "p", {"requirements.txt": "flask\n"})

    def ask(_: Wanted) -> str:
        raise AssertionError("asked")

    assert discover(tmp_path / "p", offline=True, ask=ask).unknown == ("pypi flask",)


@pytest.mark.parametrize(("entry", "repo"), [(Wanted("pypi", "flask"), "pallets/flask"),
                                             (Wanted("npm", "left-pad"), "stevemao/left-pad")])  # fmt: skip
def test_real_clients_know_the_repository(entry: Wanted, repo: str) -> None:
    if entry.ecosystem == "npm" and shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    try:
        assert ask_registry(entry) == repo
    except NoAnswer as error:
        pytest.skip(f"the registry cannot be reached from here: {error}")


@pytest.mark.parametrize("name", ["--index-url=http://127.0.0.1:9/", "-h", "a b; touch x", "../x"])
def test_a_package_name_is_never_an_option(tmp_path: Path, name: str) -> None:
    with pytest.raises(NoAnswer):
        ask_registry(Wanted("pypi", name))


ANSWERS = {
    "cargo": ('{"crate": {"repository": "https://github.com/o/crate"}}', "/api/v1/crates/x"),
    "rubygems": ('{"source_code_uri": "https://github.com/o/gem/tree/v1"}', "/api/v1/gems/x.json"),
    "packagist": ('{"packages": {"v/x": [{"source": {"url": "https://github.com/o/php.git"}}]}}', "/p2/v/x.json"),
    "nuget": ('<package><repository url="https://github.com/o/net" /></package>',
              "/v3-flatcontainer/x/1.0/x.nuspec"),
    "maven": ("<project><scm><url>https://github.com/o/jar</url></scm></project>",
              "/maven2/org/v/x/1.0/x-1.0.pom"),
}  # fmt: skip


class Registry:
    """A real server that answers as a registry does, and notes what it was asked."""

    def __init__(self, status: int, body: str, location: str = "") -> None:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(status)
                if location:
                    self.send_header("Location", location)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.asked = asked
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Registry:
        Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize("ecosystem", ANSWERS)
def test_each_registrys_answer_is_understood(
    ecosystem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, path = ANSWERS[ecosystem]
    name = {"packagist": "v/x", "maven": "org.v:x"}.get(ecosystem, "x")
    with Registry(200, body) as registry:
        monkeypatch.setitem(HOSTS, ecosystem, registry.host)  # type: ignore[arg-type]
        assert ask_registry(Wanted(ecosystem, name, "1.0")).startswith("o/")
        assert registry.asked == [path]


def test_only_known_hosts_over_https_and_no_redirection(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(host.startswith("https://") for host in HOSTS.values())
    with Registry(200, "{}") as inner, Registry(302, "", f"{inner.host}/x") as registry:
        with pytest.raises(NoAnswer):
            _fetch(registry.host, Wanted("cargo", "x"))
        assert inner.asked == []
    with Registry(200, "x" * 3_000_000) as registry, pytest.raises(NoAnswer, match="too much"):
        _fetch(registry.host, Wanted("cargo", "x"))
    with Registry(500, "") as registry, pytest.raises(NoAnswer):
        _fetch(registry.host, Wanted("cargo", "x"))
    for name in ("../../x", "x/../../y", "x?y=1", "x@evil.example"):
        with Registry(404, "") as registry:
            assert _fetch(registry.host, Wanted("cargo", name)) == ""
            assert (
                registry.asked[0].startswith("/api/v1/crates/") and "/../" not in registry.asked[0]
            )


def test_the_recipe_is_one_that_builds(tmp_path: Path, cache: Path) -> None:
    root = write_files(tmp_path / "My Project", {
        "README.md": "# Mine\n", "requirements.txt": "flask==3.10\nflask-x\nother\n",
    })  # fmt: skip
    repos = {"flask": "pallets/flask", "flask-x": "other/flask", "other": "o/uncovered"}
    project = discover(
        root, ask=lambda entry: repos[entry.package], covered=lambda repo: repo != "o/uncovered"
    )
    target = root / "packs" / "my-project.toml"
    target.parent.mkdir()
    target.write_text(recipe_text(project, target))
    recipe = read_recipe(target)
    assert [(s.name, s.kind, s.repo) for s in recipe.sources] == [
        ("my-project", "repo", ""), ("pallets-flask", "codewiki", "pallets/flask"),
        ("other-flask", "codewiki", "other/flask"),
    ]  # fmt: skip
    assert [(d.package, d.version, d.repo, d.source) for d in recipe.dependencies] == [
        ("flask", "==3.10", "pallets/flask", "pallets-flask"),
        ("flask-x", "", "other/flask", "other-flask"), ("other", "", "o/uncovered", ""),
    ]  # fmt: skip


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LOREPACK), "discover", *map(str, arguments)], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_the_command_prints_a_table_and_writes_a_recipe(tmp_path: Path) -> None:
    root = write_files(tmp_path / "app", {"go.mod": "module m\nrequire github.com/o/one v1.10.0\n",
                                          "package.json": "{nonsense", "README.md": "# App\n"})  # fmt: skip
    environment = {"LOREPACK_CACHE": str(tmp_path / "cache")}
    told = run(root, "--offline", **environment)
    assert told.returncode == 0, told.stderr
    assert [
        cell for cell in ("github.com/o/one", "go", "v1.10.0", "o/one") if cell not in told.stdout
    ] == []
    assert "package.json: cannot be understood" in told.stderr
    recipe = root / "packs" / "app.toml"
    assert read_recipe(recipe).dependencies[0].repo == "o/one"
    again = run(root, "--offline", **environment)
    assert (again.returncode, "exists: give another --recipe, or --force" in again.stderr) == (
        2,
        True,
    )
    data = json.loads(run(root, "--offline", "--dry-run", "--json", **environment).stdout)
    assert data["dependencies"][0]["package"] == "github.com/o/one"
    build = [str(LOREPACK), "build", str(recipe), "--out", str(tmp_path / "out"), "--no-site"]
    subprocess.run(build, check=True, capture_output=True, env={**os.environ, **environment})


def test_no_project_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(LorepackError, match="has a manifest"):
        discover(tmp_path)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_learns_what_its_own_project_needs(tmp_path: Path, mode: str) -> None:
    """A real client that shares its roots over stdio; a pack that documents one dependency."""
    import asyncio

    import mcp_types as types
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    from lorepack_builder.build import build_pack

    docs = write_files(tmp_path / "docs", {"a.md": "# Flask\n\ntext\n"})
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="flask"\nkind="folder"\npath="{docs}"\n'
        '[[dependency]]\necosystem="pypi"\npackage="flask"\nrepo="pallets/flask"\nsource="flask"\n'
        '[embed]\nmodel="none"\n'
    )
    summary, _ = build_pack(read_recipe(recipe), tmp_path / "out")
    project = write_files(tmp_path / "my app", {
        "pyproject.toml": '[project]\ndependencies = ["flask>=3", "x @ git+https://github.com/o/x"]\n',
        "sub/package.json": '{"dependencies": {"vue": "3.10"}}',
    })  # fmt: skip

    async def roots(_: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])  # type: ignore[arg-type]

    async def ask(callback: object) -> list[str]:
        target = StdioServerParameters(
            command=str(LOREPACK), args=["mcp", summary.pack], env=dict(os.environ)
        )
        async with Client(target, mode=mode, list_roots_callback=callback) as client:  # type: ignore[arg-type]
            answers = [await client.call_tool("list_project_dependencies", {})]
            answers += [await client.call_tool("resolve_repo", {"name": n}) for n in ("x", "vue")]
            return [answer.content[0].text for answer in answers]  # type: ignore[union-attr]

    listed_here, x, vue = asyncio.run(ask(roots))
    assert listed_here.splitlines()[1:] == [
        "pypi flask → pallets/flask (source flask)",
        "npm vue 3.10 → repository unknown (not in this pack)",
        "pypi x → o/x (not in this pack)",
    ]
    assert x == "x → o/x (not covered by this pack)" and vue.startswith("no_match")
    alone, x, _ = asyncio.run(ask(None))
    assert alone.splitlines()[1:] == ["pypi flask → pallets/flask (source flask)"]
    assert x.startswith("no_match")
