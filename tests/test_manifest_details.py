"""Manifests, kind by kind: what each line asks for, and what is none of the project's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorepack.manifests import read, tree
from lorepack.manifests.ecosystems import (
    dotnet,
    go,
    java,
    javascript,
    php_ruby,
    python,
    rust,
)
from lorepack.manifests.model import Wanted
from lorepack.manifests.tree import Reader
from tests.conftest import Files, write_files


def asked(reader: Reader, folder: Path, name: str, files: Files) -> list[str]:
    """``package version repo`` of each package, in order."""
    write_files(folder, files)
    return [f"{w.package} {w.version} {w.repo}".rstrip() for w in reader(folder / name)]


POM = "<project><groupId>g</groupId><artifactId>p</artifactId><version>1</version>{}</project>"


def dependency(group: str, name: str, more: str = "") -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>{more}</dependency>"
    )


CATALOG = """
[versions]
one = "1.5"
[libraries]
a-b_c = "g:short:2"
dict = { group = "g", name = "named", version = "3" }
ref = { module = "g:ref", version.ref = "one" }
none = { module = "g:none" }
lost = { module = "g:lost", version.ref = "no" }
rich = { module = "g:rich", version = { strictly = "1" } }
odd = 3
"""
CASES: dict[str, tuple[Reader, str, Files, list[str]]] = {
    "go": (go.mod, "go.mod", {"go.mod": (
        "module m\nrequire golang.org/x/text v0.1.0\nrequire (\n go.uber.org/zap v1.2.0\n"
        " sigs.k8s.io/yaml v1.0.0 // indirect\n k8s.io/api v0.9.0 // why\n a.b/own v1.0.0\n a.b/abs v1.0.0\n"
        " github.com/o/r/v3 v3.1.0\n gitlab.com/o/lib v1.1.0\n not a version\n)\n"
        "replace a.b/own => ../own\nreplace a.b/abs v1.0.0 => /abs\n"
        "replace (\n k8s.io/api => github.com/fork/api v1.0.0\n)\n"
    )}, ["go.uber.org/zap v1.2.0 uber-go/zap",
         "k8s.io/api v0.9.0 fork/api", "github.com/o/r/v3 v3.1.0 o/r", "gitlab.com/o/lib v1.1.0 o/lib", "golang.org/x/text v0.1.0 golang/text"]),
    "pom": (java.pom, "m/pom.xml", {
        "pom.xml": POM.format("<properties><v>7</v><deep>${v}.1</deep></properties><dependencyManagement><dependencies>"
                              + dependency("a", "managed", "<version>${deep}</version>") + "</dependencies></dependencyManagement>"),
        "m/pom.xml": "<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version></parent>"
                     "<artifactId>m</artifactId><dependencies>" + dependency("a", "managed")
                     + dependency("${project.groupId}", "own", "<version>${project.version}</version>")
                     + dependency("x", "${lost}") + dependency("b", "plain", "<version>2</version>") + "</dependencies></project>",
    }, ["a:managed 7.1", "g:own 1", "b:plain 2"]),
    "pom with its own version": (java.pom, "m/pom.xml", {
        "pom.xml": POM.format(""),
        "m/pom.xml": "<project><parent><groupId>g</groupId><version>1</version></parent><version>9</version><groupId>h</groupId>"
                     "<dependencies>" + dependency("${project.groupId}", "x", "<version>${version}</version>") + "</dependencies></project>",
    }, ["h:x 9"]),
    "pom with a broken parent": (java.pom, "m/pom.xml", {
        "pom.xml": "<project", "m/pom.xml": "<project><parent/><dependencies>" + dependency("a", "b") + "</dependencies></project>",
    }, ["a:b"]),
    "gradle": (java.gradle, "build.gradle", {"build.gradle": (
        "// api 'no:no:1'\n/* api 'no:no:2' */\napi 'a:one'\nkapt(\"b:two:1@aar\")\nimplementation enforcedPlatform('c:three:$v')\n"
        "classpath group: 'd', name: 'four'\ntestImplementation libs.a.b.c\napi(platform(libs.dict))\napi libs.ref\napi libs.none\n"
        "api libs.lost\napi libs.rich\napi libs.odd\napi libs.unknown\n"
    ), "gradle/libs.versions.toml": CATALOG},
        ["a:one", "b:two 1", "c:three", "d:four", "g:short 2", "g:named 3", "g:ref 1.5", "g:none", "g:lost", "g:rich"]),
    "gradle with a broken catalogue": (java.gradle, "build.gradle", {
        "build.gradle": "api libs.ref\napi 'a:one:1'\n", "gradle/libs.versions.toml": "[x\n",
    }, ["a:one 1"]),
    "csproj": (dotnet.csproj, "s/a.csproj", {
        "Directory.Packages.props": '<P><I><PackageVersion Include="Cen" Version=" 4 "/><PackageVersion Version="1"/></I></P>',
        "s/a.csproj": '<P xmlns="x"><I><PackageReference Include="cen"/><PackageReference Update="Up" Version="1"/>'
                      '<PackageReference Include="Over" VersionOverride="2" Version="1"/><PackageReference/>'
                      '<PackageReference Include="$(Var)"/><PackageReference Include="None"/></I></P>',
    }, ["cen 4", "Up 1", "Over 2", "None"]),
    "csproj with a broken centre": (dotnet.csproj, "a.csproj", {
        "Directory.Packages.props": "<P", "a.csproj": '<P><PackageReference Include="A"/></P>',
    }, ["A"]),
    "central packages": (dotnet.central_packages, "D.props", {
        "D.props": '<P><PackageVersion Include="A"/><PackageVersion Include="B" Version="1"/></P>',
    }, ["A", "B 1"]),
    "package.json": (javascript.package, "p/package.json", {
        "pnpm-workspace.yaml": "catalog: {a: '1'}\ncatalogs: {old: {a: '0', n: 3}, odd: 4}\n",
        "p/package.json": json.dumps({
            "dependencies": {"a": "catalog:", "b": "workspace:*", "c": "file:x", "d": "link:x", "e": "../x", "f": "/x", "n": 3},
            "devDependencies": {"g": "npm:@s/real@1", "h": "o/r", "i": "github:o/s#v1", "j": "git@github.com:o/t.git", "k": "portal:x"},
            "peerDependencies": {"l": "git+https://gitlab.com/o/u.git", "m": ">=1 <2", "o": "./x"},
            "optionalDependencies": {"a": "catalog:old", "q": "catalog:none", "p": "https://x.y/z.tgz"}, "other": {"no": "1"},
        }),
    }, ["a 1", "@s/real 1", "h  o/r", "i  o/s", "j  o/t", "l  o/u", "m >=1 <2", "a 0", "q", "p"]),
    "pnpm": (javascript.pnpm_workspace, "pnpm-workspace.yaml", {
        "pnpm-workspace.yaml": "catalog: {a: 1.10}\ncatalogs: {x: {b: ^2, c: [1]}}\n",
    }, ["a 1.10", "b ^2"]),
    "cargo": (rust.cargo, "c/Cargo.toml", {
        "Cargo.toml": '[workspace.dependencies]\nshared = "1"\nreal = {package = "true-name", version = "2"}\n',
        "c/Cargo.toml": '[dependencies]\nshared = {workspace = true}\nreal.workspace = true\nlost.workspace = true\n'
                        'near = {path = "../n"}\nboth = {path = "../n", git = "https://github.com/o/b"}\nodd = {package = 3}\n'
                        'list = [1]\n[build-dependencies]\ncc = "1"\n[dev-dependencies]\nt = {version = 3}\n[target.x.dependencies]\nu = "0.1"\n',
    }, ["shared 1", "true-name 2", "lost", "both  o/b", "list", "t", "cc 1", "u 0.1"]),
    "cargo with a broken workspace": (rust.cargo, "c/Cargo.toml", {
        "Cargo.toml": "[x\n", "c/Cargo.toml": '[dependencies]\na = {workspace = true}\n',
    }, ["a"]),
    "cargo below another crate": (rust.cargo, "a/c/Cargo.toml", {
        "Cargo.toml": '[workspace.dependencies]\na = "9"\n', "a/Cargo.toml": "[package]\n",
        "a/c/Cargo.toml": "[dependencies]\na = {workspace = true}\n",
    }, ["a 9"]),
    "pyproject": (python.pyproject, "pyproject.toml", {"pyproject.toml": (
        '[project]\ndependencies = ["A_b.C >=1, <2", "d[x] (==3)", "e; python_version<\'3\'", "f @ https://github.com/o/f", 3, "git+https://github.com/o/g#egg=G_x"]\n'
        '[project.optional-dependencies]\nx = ["h~=1.0"]\n[dependency-groups]\ny = ["i", {include-group = "z"}]\n'
        '[tool.poetry.dependencies]\nPython = "3"\nj = "^1"\nk = {version = "2", extras = ["x"]}\nl = {url = "https://gitlab.com/o/l.git"}\nm = {version = 3}\n'
        '[tool.poetry.dev-dependencies]\nn = "*"\n[tool.poetry.group.g.dependencies]\no = "5"\n'
    )}, ["a-b-c >=1, <2", "d ==3", "e", "f  o/f", "g-x  o/g", "h ~=1.0", "i", "j ^1", "k 2", "l  o/l", "m", "n *", "o 5"]),
    "requirements": (python.requirements, "r/requirements.txt", {
        "out.txt": "no\n", "r/more.txt": "b\n-r requirements.txt\n", "r/c/c.txt": "c==1\n",
        "r/requirements.txt": "a==1 \\\n  --hash=x:y\n-r more.txt\n--requirement=c/c.txt\n-r ../out.txt\n-r none.txt\n# x\n"
                              "d>=2 # why\n-e git+https://github.com/o/e.git\n--editable ./x\n-i x\nhttp://x.y/z.whl\n!!\n\n",
    }, ["a ==1", "b", "c ==1", "d >=2", "e  o/e"]),
    "composer": (php_ruby.composer, "composer.json", {"composer.json": json.dumps({
        "require": {"php": "8", "ext-x": "*", "a/b": "^1", "c/d": 3}, "require-dev": {"e/f": "2"}, "suggest": {"g/h": "1"},
    })}, ["a/b ^1", "e/f 2"]),
    "gems": (php_ruby.gemfile_lock, "Gemfile.lock", {"Gemfile.lock": (
        "GIT\n  remote: https://github.com/o/a.git\n  specs:\n    a (0.1)\n\nGEM\n  specs:\n    b (2.0)\n      c (>= 1)\n    c (1.1)\n\n"
        "DEPENDENCIES\n  a!\n  b (~> 2)\n  d (= 4)\n\nPLATFORMS\n  ruby\n"
    )}, ["a 0.1 o/a", "b 2.0", "d = 4"]),
}  # fmt: skip


@pytest.mark.parametrize(("reader", "name", "files", "expected"), CASES.values(), ids=CASES)
def test_what_a_manifest_asks_for(
    tmp_path: Path, reader: Reader, name: str, files: Files, expected: list[str]
) -> None:
    assert asked(reader, tmp_path, name, files) == expected


def test_members_of_workspaces(tmp_path: Path) -> None:
    write_files(tmp_path, {
        "All.sln": 'Project("{A}") = "a", "src\\a\\a.csproj", "{B}"\nProject("{A}") = "folder", "folder", "{C}"\n',
        "go.work": "use ./a\nuse (\n ./b // why\n)\n", "pom.xml": "<p><modules><module>a</module><module/>"
        "<module>b/other.xml</module></modules></p>", "Cargo.toml": '[workspace]\nmembers = ["x/*", 3]\n',
        "package.json": '{"workspaces": {"packages": ["p/*", 3]}}', "pnpm-workspace.yaml": "packages: [q/*, '!r']\n",
        "list/package.json": '{"workspaces": ["s"]}', "none/package.json": "{}",
    })  # fmt: skip
    assert "src/a/a.csproj" in dotnet.members(tmp_path / "All.sln")
    assert go.members(tmp_path / "go.work") == ["./b", "./a"]
    assert java.members(tmp_path / "pom.xml") == ["a/pom.xml", "b/other.xml"]
    assert rust.members(tmp_path / "Cargo.toml") == ["x/*"]
    assert javascript.members(tmp_path / "package.json") == ["p/*"]
    assert javascript.members(tmp_path / "pnpm-workspace.yaml") == ["q/*", "!r"]
    assert javascript.members(tmp_path / "list" / "package.json") == ["s"]
    assert javascript.members(tmp_path / "none" / "package.json") == []


def refusal(path: Path) -> str:
    with pytest.raises(read.Unreadable) as caught:
        read.read_text(path)
    return str(caught.value)


def test_texts_of_manifests(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"\xef\xbb\xbfa" + b" " * (read.MAX_BYTES - 4))
    assert read.read_text(file).startswith("a ")
    file.write_bytes(b" " * (read.MAX_BYTES + 1))
    assert refusal(file) == "is larger than 1000 kB"
    assert refusal(tmp_path / "none") == "cannot be read (No such file or directory)"
    assert refusal(tmp_path) == "is a link, or no file"
    for data, says in ((b"a\0", "holds a NUL character"), (b"\xff", "is not valid UTF-8")):
        file.write_bytes(data)
        assert refusal(file) == says
    file.write_text("a: 1.10\nb: yes\n")
    assert read.read_yaml(file) == {"a": "1.10", "b": "yes"}
    file.write_text("a: &x 1\nb: [" + "*x," * 100 + "]")
    assert len(read.read_yaml(file)["b"]) == 100
    file.write_text("a: &x 1\nb: [" + "*x," * 101 + "]")
    with pytest.raises(read.Unreadable, match=r"^repeats too much of itself$"):
        read.read_yaml(file)
    assert read.child_text(None, "x") == ""
    for text, load, says in (
        ("<!DOCTYPE a>", read.read_xml, "declares a document type"),
        ("<a", read.read_xml, r"is no XML \(.+\)"),
        ("[1]", read.read_json, "holds no table"), ("- a", read.read_yaml, "holds no table"),
        ("{", read.read_json, r"cannot be understood \(.+\)"),
        ("[", read.read_toml, r"cannot be understood \(.+\)"),
    ):  # fmt: skip
        file.write_text(text)
        with pytest.raises(read.Unreadable, match=f"^{says}$"):
            load(file)


def test_projects(tmp_path: Path) -> None:
    """One package that several manifests ask for; members; folders of others; depth."""
    deep = "/".join("d" * 8)
    root = write_files(tmp_path / "p", {
        "package.json": '{"workspaces": ["m/*", "!no", "gone", "one/package.json"], "dependencies": {"a": "github:o/a"}}',
        "m/x/package.json": '{"dependencies": {"a": "2", "b": "1"}}', "one/package.json": '{"dependencies": {"c": "1"}}',
        ".hidden/package.json": '{"dependencies": {"h": "1"}}', "vendor/package.json": '{"dependencies": {"v": "1"}}',
        f"{deep}/go.mod": "module m\nrequire a.b/deep v1.0.0\n", f"{deep}/d/go.mod": "module m\nrequire a.b/deeper v1.0.0\n",
        "bad/Cargo.toml": "[x\n", "requirements-dev.txt": "x\n",
    })  # fmt: skip
    found = tree.project_dependencies(root / "m" / "x" / "none")
    assert found is not None and found[0] == root / "m" / "x"
    found = tree.project_dependencies(root)
    assert found is not None
    asked_for = {w.package: (w, places) for w, places in found[1]}
    assert list(asked_for) == ["a.b/deep", "a", "b", "c", "x"]
    assert asked_for["a"] == (Wanted("npm", "a", "2", "o/a"), ("package.json", "m/x/package.json"))
    assert asked_for["x"][1] == ("requirements-dev.txt",)
    assert [name for name, _ in found[2]] == ["bad/Cargo.toml"] * len(found[2]) and found[2]
    assert tree.project_dependencies(tmp_path) is None or tree.find_root(tmp_path) is not None
