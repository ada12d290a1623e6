"""The models that questions need: loaded when first asked for, shared by packs, few at a time."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.models.encoder import Encoder, carried_encoder, load_encoder
from lorepack.packfile.models.registry import MODELS, OPENAI, ModelSpec, spec_of
from lorepack.server.mount import Mount

MOST_LOADED = 4
"""Models in memory at a time; the one not asked for longest goes first."""

_CARRIED = "SELECT data FROM encoder WHERE name = ?"

_loaded: OrderedDict[str, Encoder | str] = OrderedDict()
_lock = threading.Lock()


def query_encoder(mount: Mount) -> Encoder | str:
    """Return the encoder that made the pack's vectors, or the reason why there is none here.

    What the pack carries comes first, as it loads fast and small; then what is installed.
    """
    if mount.embedder is None:
        return "the pack was built without vectors"
    try:
        spec = spec_of(mount.embedder)
    except LorepackError as error:
        return error.message
    if mount.carries_encoder:
        return _once(f"carried {mount.digest}", lambda: _carried(mount, spec))
    known = MODELS.get(spec.id)
    if known is not None and known.fingerprint() != mount.embedder:
        return f"the pack was built with other weights of {spec.id}"
    if spec.id.startswith(OPENAI):
        return _or_reason(lambda: load_encoder(spec))
    return _once(spec.key(), lambda: load_encoder(known or spec, threads=os.cpu_count() or 1))


def warm_encoders(mounts: Sequence[Mount]) -> None:
    """Load what the mounts need, as many models as are kept."""
    for mount in mounts:
        if len(_loaded) < MOST_LOADED:
            query_encoder(mount)


def _carried(mount: Mount, spec: ModelSpec) -> Encoder:
    pack = mount.connection()
    files = {
        name: pack.execute(_CARRIED, (name,)).fetchone()
        for name in ("model.onnx", "tokenizer.json")
    }
    if not all(files.values()):
        raise LorepackError("the pack carries half a model", "build it again")
    model, tokenizer = (row[0] for row in files.values())
    if not isinstance(model, bytes) or not isinstance(tokenizer, bytes):
        raise LorepackError("the pack carries no model that can be read", "build it again")
    return carried_encoder(spec, model, tokenizer, threads=os.cpu_count() or 1)


def _once(key: str, load: Callable[[], Encoder]) -> Encoder | str:
    with _lock:
        if key not in _loaded:
            _loaded[key] = _or_reason(load)
        _loaded.move_to_end(key)
        while len(_loaded) > MOST_LOADED:
            _loaded.popitem(last=False)
        return _loaded[key]


def _or_reason(load: Callable[[], Encoder]) -> Encoder | str:
    try:
        return load()
    except (LorepackError, ImportError) as error:
        return str(error)
    except Exception as error:
        # What a pack carries is not trusted: its tokenizer may be anything.
        return f"the model cannot be loaded ({type(error).__name__})"
