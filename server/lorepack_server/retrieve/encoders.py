"""The models that questions need: loaded when first asked for, shared by packs, few at a time."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from lorepack.errors import LorepackError
from lorepack.models.encoder import Encoder, carried_encoder, load_encoder
from lorepack.models.registry import MODELS, OPENAI, ModelSpec, spec_of
from lorepack_server.packs.mount import Mount

MOST_LOADED = 4
"""Models in memory at a time; the one not asked for longest goes first."""
PATIENCE_SECONDS = 5.0
"""How long a server lets a question wait for its model, before it is answered without it."""

_CARRIED = "SELECT data FROM encoder WHERE name = ?"

_STILL_LOADING = "the model is still being loaded; ask again in a moment to search by vectors too"

_loaded: OrderedDict[str, Encoder | str] = OrderedDict()
_loading: dict[str, Future[Encoder | str]] = {}
_lock = threading.Lock()
_patience: float | None = None


def answer_while_loading(seconds: float) -> None:
    """Let questions of this process wait so long for a model, and be answered without it then."""
    global _patience  # noqa: PLW0603
    _patience = seconds


def query_encoder(mount: Mount) -> Encoder | str:
    """Return the encoder that made the pack's vectors, or the reason why there is none here.

    What the pack carries comes first, as it loads fast and small; then what is installed. One that
    is still being loaded is waited for as `answer_while_loading` says, else until it is there.
    """
    return _encoder(mount, _patience)


def _encoder(mount: Mount, patience: float | None) -> Encoder | str:
    if mount.embedder is None:
        return "the pack was built without vectors"
    try:
        spec = spec_of(mount.embedder)
    except LorepackError as error:
        return error.message
    if mount.carries_encoder:
        return _once(f"carried {mount.digest}", lambda: _carried(mount, spec), patience)
    known = MODELS.get(spec.id)
    if known is not None and known.fingerprint() != mount.embedder:
        return f"the pack was built with other weights of {spec.id}"
    if spec.id.startswith(OPENAI):
        return _or_reason(lambda: load_encoder(spec))
    return _once(
        spec.key(), lambda: load_encoder(known or spec, threads=os.cpu_count() or 1), patience
    )


def warm_encoders(mounts: Sequence[Mount]) -> None:
    """Load what the mounts need, as many models as are kept."""
    for mount in mounts:
        if len(_loaded) < MOST_LOADED:
            _encoder(mount, None)


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


def _once(key: str, load: Callable[[], Encoder], patience: float | None) -> Encoder | str:
    with _lock:
        if key in _loaded:
            _loaded.move_to_end(key)
            return _loaded[key]
        future = _loading.get(key)
        if future is None:
            future = _loading[key] = Future()
            threading.Thread(target=_load, args=(key, load, future), daemon=True).start()
    try:
        return future.result(patience)
    except TimeoutError:
        return _STILL_LOADING


def _load(key: str, load: Callable[[], Encoder], future: Future[Encoder | str]) -> None:
    encoder = _or_reason(load)
    with _lock:
        _loaded[key] = encoder
        while len(_loaded) > MOST_LOADED:
            _loaded.popitem(last=False)
        del _loading[key]
    future.set_result(encoder)


def _or_reason(load: Callable[[], Encoder]) -> Encoder | str:
    try:
        return load()
    except (LorepackError, ImportError) as error:
        return str(error)
    except Exception as error:
        # What a pack carries is not trusted: its tokenizer may be anything.
        return f"the model cannot be loaded ({type(error).__name__})"
