"""Detached signatures of packs by minisign keys (Ed25519). https://jedisct1.github.io/minisign/

A signature lies beside its pack, ``NAME-VERSION.lorepack.minisig``; minisign itself checks it, too.
"""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack

SUFFIX = ".minisig"
_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version', 'content_digest')"


def signature_file(pack: Path) -> Path:
    """Return where the signature of a pack lies."""
    return pack.with_name(pack.name + SUFFIX)


def new_keys(secret: Path, password: str | None) -> Path:
    """Write a new secret key, and its public key beside it as ``.pub``; return the latter.

    Raises:
        LorepackError: one of them is there already, or they cannot be written.
    """
    minisign = _minisign()
    public = secret.with_name(f"{secret.name}.pub")
    for path in (secret, public):
        if path.exists():
            raise LorepackError(f"{path} is there already", "give another name")
    pair = minisign.KeyPair.generate()
    if password:
        pair.secret_key.encrypt(password)
    try:
        secret.touch(mode=0o600)
        secret.write_bytes(bytes(pair.secret_key))
        public.write_bytes(bytes(pair.public_key))
    except OSError as error:
        raise LorepackError(f"{secret} cannot be written ({error})", "check its folder") from error
    return public


def sign_pack(pack: Path, secret: Path, password: str | None) -> Path:
    """Sign a pack; return the signature's file. Its trusted comment names pack and digest.

    Raises:
        LorepackError: the pack or the key cannot be read, or the password is wrong.
    """
    minisign = _minisign()
    comment = _comment(pack)
    try:
        key = minisign.SecretKey.from_file(secret)
        if key.is_encrypted():
            key.decrypt(password or "")
        with pack.open("rb") as file:
            signature = key.sign(file, prehash=True, trusted_comment=comment)
    except (OSError, ValueError) as error:
        raise LorepackError(
            f"{secret} does not sign ({error})", "give a minisign secret key and its password"
        ) from error
    target = signature_file(pack)
    staged = target.with_name(f".{target.name}.new")
    try:
        staged.write_bytes(bytes(signature))
        staged.replace(target)
    except OSError as error:
        raise LorepackError(f"{target} cannot be written ({error})", "check its folder") from error
    return target


def require_signature(pack: Path, key: str) -> str:
    """Check the signature that lies beside a pack; return its trusted comment.

    Args:
        key: a public key: its file, or its text in base 64.

    Raises:
        LorepackError: the key is none, there is no signature, or it is not this pack's by this key.
    """
    minisign = _minisign()
    public = _public_key(minisign, key)
    file = signature_file(pack)
    try:
        signature = minisign.Signature.from_file(file)
        with pack.open("rb") as data:
            public.verify(data, signature)
    except FileNotFoundError as error:
        raise LorepackError(f"{pack} has no signature", f"{file} is missing") from error
    except (OSError, ValueError) as error:
        raise LorepackError(
            f"{pack} is not what was signed by this key ({error or 'the signature does not fit'})",
            "fetch it again, or check the key",
        ) from error
    return str(signature.trusted_comment)


def _public_key(minisign: ModuleType, key: str) -> Any:
    try:
        if len(base64.b64decode(key, validate=True)) == 42:
            return minisign.PublicKey.from_base64(key)
    except ValueError:
        pass
    try:
        return minisign.PublicKey.from_file(key)
    except (OSError, ValueError) as error:
        raise LorepackError(
            f"{key} is no minisign public key ({error})", "give its file or its text"
        ) from error


def _comment(pack: Path) -> str:
    with closing(open_pack(pack)) as opened:
        try:
            meta = dict(opened.execute(_META).fetchall())
            return f"{meta['name']} {meta['version']} content:{meta['content_digest']}"
        except (sqlite3.Error, KeyError) as error:
            raise LorepackError(f"{pack} is damaged ({error})", "build it again") from error


def _minisign() -> ModuleType:
    try:
        import minisign
    except ImportError as error:
        raise LorepackError(
            "signatures need the extra `sign`", "pip install 'lorepack[sign]'"
        ) from error
    return minisign
