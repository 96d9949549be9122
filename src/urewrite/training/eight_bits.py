"""A graph with its large weights in 8 bits: a quarter of the size, and faster.

Matrix products are computed in 8 bits, with a scale for every column of a weight. Embeddings are only kept in 8 bits,
with a scale for every row: the one scale for a whole table that the quantiser of ONNX Runtime takes is spoiled by the
few rows with large values.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from urewrite.files import replacing

PACKED, SCALE = "_quantized", "_scale"
"""What follows the name of a weight in the names of its 8 bits and of their scale, as with ONNX Runtime."""
_SMALL = 10_000
"""Tables of fewer numbers stay as they are."""
_FLOAT = onnx.TensorProto.FLOAT


def write_small_graph(whole: Path, path: Path) -> None:
    """The graph `whole` with the weights of its matrix products and embeddings in 8 bits."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder, replacing(path) as temporary:
        prepared = Path(folder) / "prepared.onnx"
        graph = onnx.load(str(whole))
        pack_embeddings(graph)
        ready = graph.metadata_props.add()  # or the quantiser warns that shapes are unknown, which it does without
        ready.key, ready.value = "onnx.quant.pre_process", "onnxruntime.quant"
        onnx.save(graph, str(prepared))
        quantize_dynamic(
            prepared,
            temporary,
            op_types_to_quantize=["MatMul", "Gemm"],
            per_channel=True,
            reduce_range=True,  # products of 8 by 8 bits would overflow on CPUs with AVX2 alone
            weight_type=QuantType.QInt8,
        )


def pack_embeddings(model: onnx.ModelProto) -> None:
    """Keep the tables that rows are looked up in as whole numbers from -127 to 127 and a scale for each row."""
    graph = model.graph
    tables = {one.name: one for one in graph.initializer if len(one.dims) == 2 and np.prod(one.dims) >= _SMALL}
    looked_up = {node.input[0] for node in graph.node if _looks_up(node)} & set(tables)
    used_otherwise = {name for node in graph.node if not _looks_up(node) for name in node.input}
    packed = looked_up - used_otherwise
    nodes = [new for node in graph.node for new in (_unpacking(node) if set(node.input) & packed else [node])]
    kept = [one for one in graph.initializer if one.name not in packed]
    for name in sorted(packed):
        rows = numpy_helper.to_array(tables[name])
        scale = np.maximum(np.abs(rows).max(1, keepdims=True) / 127, np.finfo(np.float32).tiny).astype(np.float32)
        kept.append(numpy_helper.from_array(np.rint(rows / scale).astype(np.int8), name + PACKED))
        kept.append(numpy_helper.from_array(scale, name + SCALE))
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)


def _looks_up(node: onnx.NodeProto) -> bool:
    along = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    return bool(node.op_type == "Gather" and along == 0)


def _unpacking(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Look up the whole numbers and the scales of the same rows, and multiply them."""
    (table, which), (found,) = node.input, node.output
    for kind in (PACKED, SCALE):
        yield helper.make_node("Gather", [table + kind, which], [found + kind], name=node.name + kind, axis=0)
    yield helper.make_node("Cast", [found + PACKED], [f"{found}_float"], name=f"{node.name}_float", to=_FLOAT)
    yield helper.make_node("Mul", [f"{found}_float", found + SCALE], [found], name=node.name)
