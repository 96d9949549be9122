"""How many floating-point operations a graph takes for a batch, and how many this machine can do in a second.

Operations are counted exactly, not estimated: the graph is run on the very arrays of a batch, extended by nodes that
give the shapes of everything that goes into and comes out of its matrix products, convolutions and LSTMs. Of these the
count follows: two operations (a multiplication and an addition) for each term of each sum, padding of the batch
included, since it is computed as well. Products of 8-bit matrices count the same. All else (normalisation, ReLU,
softmax, pooling, embedding) is not counted, so a share of the peak is never flattered by it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from urewrite.prepare import GridArrays

Shape = tuple[int, ...]
Count = Callable[[onnx.NodeProto, Sequence[Shape]], int]
"""Multiplications of a node, from the shapes of its inputs and, last, of its first output."""

PEAK_SIZE = 2048
PEAK_TRIES = 3


def _matrix_product(_: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    return math.prod(shapes[-1]) * shapes[0][-1]


def _gemm(node: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    transposed = any(one.name == "transA" and one.i for one in node.attribute)
    return math.prod(shapes[-1]) * shapes[0][0 if transposed else 1]


def _convolution(_: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    return math.prod(shapes[-1]) * math.prod(shapes[1][1:])


def _deconvolution(_: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    return math.prod(shapes[0]) * math.prod(shapes[1][1:])


def _lstm(_: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    steps, batch, _features = shapes[0]
    return steps * batch * (math.prod(shapes[1]) + math.prod(shapes[2]))


def _einsum(node: onnx.NodeProto, shapes: Sequence[Shape]) -> int:
    equation = next(one.s.decode() for one in node.attribute if one.name == "equation").replace(" ", "")
    terms = equation.split("->")[0].split(",")
    if "." in equation:
        raise SystemExit(f"{node.name}: {equation} cannot be counted")
    return math.prod(
        {
            letter: size
            for term, shape in zip(terms, shapes, strict=False)
            for letter, size in zip(term, shape, strict=True)
        }.values()
    )


COUNTED: Mapping[str, Count] = {
    "MatMul": _matrix_product,
    "MatMulInteger": _matrix_product,
    "MatMulIntegerToFloat": _matrix_product,
    "Gemm": _gemm,
    "Conv": _convolution,
    "ConvInteger": _convolution,
    "ConvTranspose": _deconvolution,
    "LSTM": _lstm,
    "DynamicQuantizeLSTM": _lstm,
    "Einsum": _einsum,
}
REFUSED = frozenset(["GRU", "RNN", "QLinearConv", "QLinearMatMul", "Attention", "If", "Loop", "Scan"])
"""What may hold operations that would not be counted."""


class OperationCounter:
    """Counts for one graph."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(str(path))
        refused = REFUSED & {node.op_type for node in model.graph.node}
        if refused:
            raise SystemExit(f"{path}: the operations of {', '.join(sorted(refused))} cannot be counted")
        self._nodes = [node for node in model.graph.node if node.op_type in COUNTED]
        tensors = dict.fromkeys(tensor for node in self._nodes for tensor in _tensors(node))
        self._shapes = {tensor: f"shape of {tensor}" for tensor in tensors}
        for tensor, name in self._shapes.items():
            model.graph.node.append(helper.make_node("Shape", [tensor], [name]))
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.INT64, [None]))
        options = onnxruntime.SessionOptions()
        # The graph as it was written; and a warning for every shape that its outputs were not said to have is no news.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [given.name for given in self._session.get_inputs()]

    def count(self, batches: Sequence[GridArrays]) -> Counter[str]:
        """Floating-point operations for all batches, by kind of node."""
        total: Counter[str] = Counter()
        for batch in batches:
            given = batch._asdict()
            found = self._session.run(list(self._shapes.values()), {name: given[name] for name in self._inputs})
            shapes = {name: tuple(map(int, shape)) for name, shape in zip(self._shapes, found, strict=True)}
            for node in self._nodes:
                multiplications = COUNTED[node.op_type](node, [shapes[tensor] for tensor in _tensors(node)])
                total[node.op_type] += 2 * multiplications
        return total


class Peak:
    """The most operations a second of this machine: a large product of float32 matrices, on all cores."""

    def __init__(self, size: int = PEAK_SIZE) -> None:
        chance = np.random.default_rng(1)
        self._operations = 2 * size**3
        self._left, self._right = (chance.standard_normal((size, size), dtype=np.float32) for _ in range(2))
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["left", "right"], ["product"])],
            "product",
            [helper.make_tensor_value_info("left", TensorProto.FLOAT, [size, size])],
            [helper.make_tensor_value_info("product", TensorProto.FLOAT, [size, size])],
            [numpy_helper.from_array(self._right, "right")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self._session: Any = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        self._by_library: dict[str, Callable[[], object]] = {
            "onnxruntime": lambda: self._session.run(None, {"left": self._left}),
            "numpy": lambda: self._left @ self._right,
        }

    def measure(self, rest: Callable[[], None]) -> dict[str, float]:
        """Operations a second by library, each the best of some tries; `rest` is called between the two."""
        found = {}
        for library, work in self._by_library.items():
            rest()
            taken = []
            for _ in range(PEAK_TRIES):
                start = time.perf_counter()
                work()
                taken.append(time.perf_counter() - start)
            found[library] = self._operations / min(taken)
        return found


def _tensors(node: onnx.NodeProto) -> list[str]:
    """The inputs that are there, by their places up to the third, and the first output that is."""
    given = [name for name in list(node.input)[:3] if name]
    return [*given, next(name for name in node.output if name)]
