"""Archives: every form is read, and nothing that lies, leaves, links or explodes is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lorepack.errors import LorepackError
from lorepack_builder.acquire import archive as limits
from lorepack_builder.acquire.archive import unpack
from lorepack_builder.build import build_pack
from lorepack_builder.recipe import read_recipe
from tests.conftest import Built

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FILES = {
    "vault/.obsidian/app.json": b"{}",
    "vault/Home.md": b"See [[Deep]] #tag\n",
    "vault/a/Deep.md": b"x\n",
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress,
}  # fmt: skip


def make_zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return data.getvalue()


def make_tar(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
        for info in more:
            file.addfile(info)
    return data.getvalue()


def build_archive(tmp_path: Path, data: bytes, name: str = "a.bin", **keys: str) -> Built:
    (tmp_path / name).write_bytes(data)
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f'[pack]\nname="p"\nversion="1"\n[[source]]\nname="s"\nkind="archive"\npath="{name}"\n{lines}'
        '[embed]\nmodel="none"\n'
    )
    return Built(*build_pack(read_recipe(recipe), tmp_path / "out", site=False))


def paths(built: Built) -> list[str]:
    return [
        row[0] for row in built.mount().connection().execute("SELECT path FROM pages ORDER BY path")
    ]


FORMS = {
    "zip": make_zip(FILES), "tar": make_tar(FILES),
    **{f"tar.{name}": pack(make_tar(FILES)) for name, pack in COMPRESS.items()},
    "zip in zip": make_zip({"Part-1.zip": make_zip(FILES)}),
    "tar.gz in zip": make_zip({"x.tar.gz": gzip.compress(make_tar(FILES))}),
}  # fmt: skip


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS)
def test_a_vault_in_any_form_is_read_as_a_vault(tmp_path: Path, data: bytes) -> None:
    built = build_archive(tmp_path, data)
    assert paths(built) == ["s/Home.md", "s/a/Deep.md"]
    edges = built.mount().connection().execute("SELECT kind FROM edges ORDER BY kind")
    assert [row[0] for row in edges] == ["tag", "wikilink"]


@pytest.mark.parametrize("name", COMPRESS)
def test_one_compressed_file_is_a_folder_of_one(tmp_path: Path, name: str) -> None:
    built = build_archive(tmp_path, COMPRESS[name](b"# Notes\n\ntext\n"), f"notes.md.{name}")
    assert paths(built) == ["s/notes.md"]


def test_an_archive_in_a_vault_stays_an_attachment(tmp_path: Path) -> None:
    built = build_archive(tmp_path, make_zip({"a.md": b"x", "inner.zip": make_zip(FILES)}))
    assert paths(built) == ["s/a.md"]


def test_holds_names_what_cannot_be_told(tmp_path: Path) -> None:
    data = make_zip({"a.py": b"def f(): ...\n", "README.md": b"x"})
    assert paths(build_archive(tmp_path, data)) == ["s/README.md"]
    assert paths(build_archive(tmp_path, data, holds='"repo"')) == ["s/README.md", "s/a.py"]


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zip_entry(name: str, mode: int) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        file.writestr(info, "/etc/passwd")
    return data.getvalue()


def encrypted() -> bytes:
    data = bytearray(make_zip({"a.md": b"x"}))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


def overlapping() -> bytes:
    """Two entries of the list that lead to one file."""
    data = make_zip({"a.md": b"x" * 50, "b.md": b"y"})
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 4)
    broken = bytearray(data)
    broken[second + 42 : second + 46] = struct.pack("<I", 0)
    return bytes(broken)


def lying_size() -> bytes:
    """A file that says it is small and unpacks to 90 MB."""
    data = bytearray(make_zip({"a.md": b"\0" * 90_000_000}))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    data[22:26] = struct.pack("<I", 10)
    return bytes(data)


REFUSED = {
    "leaving zip": (make_zip({"../a.md": b"x"}), "leaves it"),
    "leaving tar": (make_tar({"a/../../b.md": b"x"}), "leaves it"),
    "backslashes": (make_zip({"..\\..\\a.md": b"x"}), "leaves it"),
    "absolute": (make_tar({"/etc/a.md": b"x"}), "the absolute path"),
    "drive": (make_zip({"C:/a.md": b"x"}), "the absolute path"),
    "zip link": (zip_entry("a.md", 0o120777), "the link 'a.md'"),
    "zip device": (zip_entry("a.md", 0o060644), "is no file"),
    "tar link": (make_tar({}, special("a.md", tarfile.SYMTYPE, "/etc/passwd")), "the link 'a.md'"),
    "tar hard link": (make_tar({"b": b"x"}, special("a", tarfile.LNKTYPE, "b")), "the link 'a'"),
    "device": (make_tar({}, special("null", tarfile.CHRTYPE)), "is no file"),
    "fifo": (make_tar({}, special("pipe", tarfile.FIFOTYPE)), "is no file"),
    "encrypted": (encrypted(), "is encrypted"),
    "overlapping": (overlapping(), "overlaps another file"),
    "ratio": (gzip.compress(b"\0" * 90_000_000), "more than 300 times its size"),
    "zip ratio": (make_zip({"a.md": b"\0" * 90_000_000}), "more than 300 times its size"),
    "lying size": (lying_size(), ""),
    "case": (make_zip({"A.md": b"x", "a.md": b"y"}), "one name to some systems"),
    "case of folders": (make_zip({"A/x.md": b"x", "a/y.md": b"y"}), "one name to some systems"),
    "unicode forms": (make_zip({"\u00e9.md": b"x", "e\u0301.md": b"y"}), "one name to some systems"),
    "file and folder": (make_tar({"a": b"x", "a/b.md": b"y"}), "one name to some systems"),
    "twice": (make_tar({"a.md": b"x"}) [:1024] + make_tar({"a.md": b"y"}), "one name to some systems"),
    "no archive": (b"plain text", "is no zip, tar"),
    "empty": (b"", "is no zip, tar"),
    "cut zip": (make_zip(FILES)[:-30], "damaged zip"),
    "cut gz": (gzip.compress(b"abc" * 1000)[:-20], "cannot be unpacked"),
    "bad xz": (b"\xfd7zXZ\x00" + b"x" * 50, "cannot be unpacked"),
    "bad zst": (b"\x28\xb5\x2f\xfd" + b"x" * 50, "cannot be unpacked"),
    "bomb in zip": (make_zip({"in.zip": make_zip({"a.md": b"\0" * 90_000_000})}), "its size"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_a_bad_archive_is_refused_and_nothing_written(
    tmp_path: Path, data: bytes, message: str
) -> None:
    with pytest.raises(LorepackError) as refused:
        build_archive(tmp_path, data)
    assert message in refused.value.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "r.toml"]


@pytest.mark.parametrize(("limit", "message"), [("MAX_ENTRIES", "more than 1 files"),
                                                ("MAX_BYTES", "unpacks to more than")])  # fmt: skip
def test_counts_and_sizes_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, message: str
) -> None:
    monkeypatch.setattr(limits, limit, 1)
    for data in (make_zip(FILES), make_tar(FILES), gzip.compress(make_tar(FILES))):
        with pytest.raises(LorepackError, match=message):
            build_archive(tmp_path, data)


NAMES = {
    "gbk": ["中文笔记/第一章 简介.md", "中文笔记/第二章 安装说明.md", "中文笔记/目录.md"],
    "cp932": ["日本語のノート/はじめに.md", "日本語のノート/インストール方法.md"],
    "cp866": ["Заметки/Введение в систему.md", "Заметки/Установка и настройка.md"],
    "utf-8": ["Türkçe/İstanbul ığüşöç.md", "中文/笔记.md"],
}


@pytest.mark.parametrize("encoding", NAMES)
def test_names_in_any_encoding_come_out_right(tmp_path: Path, encoding: str) -> None:
    names = NAMES[encoding]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for letter, name in zip("ABC", names, strict=False):
            # Written as tools of that system do: raw bytes, and no word on their encoding.
            info = zipfile.ZipInfo(letter * len(name.encode(encoding)))
            file.writestr(info, "text")
    raw = data.getvalue()
    for letter, name in zip(b"ABC", names, strict=False):
        encoded = name.encode(encoding)
        raw = raw.replace(bytes([letter]) * len(encoded), encoded)
    (tmp_path / "a.zip").write_bytes(raw)
    root = unpack(tmp_path / "a.zip", tmp_path / "into")
    found = sorted(p.relative_to(tmp_path / "into" / "files").as_posix()
                   for p in root.rglob("*.md"))  # fmt: skip
    assert found == sorted(names)


def test_long_names_and_junk(tmp_path: Path) -> None:
    name = "很长" * 100
    data = make_zip(
        {f"n/{name}.md": b"x", "n/b.md": b"y", "__MACOSX/n/._b.md": b"z", "n/.DS_Store": b"z"}
    )
    assert len(paths(build_archive(tmp_path, data))) == 2
