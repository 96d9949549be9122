"""A graph with its large weights in 8 bits: a quarter of the size, and faster.

Matrix products are computed in 8 bits, with a scale for every column of the weight and for every row of what it is
multiplied with. What GELU gives is raised to where nothing is negative, or nearly half of the 8 bits would stand for
values that it never gives. Embeddings are only kept in 8 bits, with a scale for every row. The quantiser of ONNX
Runtime takes one scale for all rows instead: then a dialogue's answer depends on those it is computed with, and a table
is spoiled by its few rows with large values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from urewrite.files import replacing

PACKED, SCALE = "_quantized", "_scale"
"""What follows the name of a weight in the names of its 8 bits and of their scale, as with ONNX Runtime."""
_SMALL = 10_000
"""Weights of fewer numbers stay as they are."""
_MOST, _MOST_FACTOR = 127, 63
"""The largest whole number of a row and of a weight: products of 8 by 8 bits would overflow on CPUs with AVX2 alone."""
_FLOAT = onnx.TensorProto.FLOAT
_CONTRIBUTED = "com.microsoft"
_ROUNDED = ("divisor", "fraction", "whole")
_STEP, _ZERO, _LEAST = "eight_bits_step", "eight_bits_zero", "eight_bits_least"
_RAISED_STEP, _RAISED_ZERO, _RAISE = "eight_bits_raised_step", "eight_bits_raised_zero", "eight_bits_raise"
_RAISED_MOST = 255
_DEPTH = 0.17
"""No value of GELU is further below zero: its least is -0.16997."""
_LOWERING = "_lowering"
"""What follows the name of a weight in the name of what raising adds to a product with it, negative."""
_CONSTANTS: dict[str, NDArray[Any]] = {
    _STEP: np.array(1 / _MOST, np.float32),
    _ZERO: np.array(128, np.uint8),
    _LEAST: np.array(np.finfo(np.float32).tiny * _MOST**2, np.float32),  # a row of zeros is not divided by zero
}
_RAISING_CONSTANTS: dict[str, NDArray[Any]] = {
    _RAISED_STEP: np.array(1 / _RAISED_MOST, np.float32),
    _RAISED_ZERO: np.array(0, np.uint8),
    _RAISE: np.array(_DEPTH, np.float32),
}


def write_small_graph(whole: Path, path: Path) -> None:
    """The graph `whole` with the weights of its matrix products and embeddings in 8 bits."""
    model = onnx.load(str(whole))
    pack_embeddings(model)
    pack_products(model)
    with replacing(path) as temporary:
        onnx.save(model, str(temporary))


def pack_embeddings(model: onnx.ModelProto) -> None:
    """Keep the tables that rows are looked up in as whole numbers from -127 to 127 and a scale for each row."""
    _pack(model, _looks_up, 0, lambda rows: np.abs(rows).max(1, keepdims=True) / _MOST, _unpacking)


def pack_products(model: onnx.ModelProto) -> None:
    """Compute products with large weights in whole numbers: each row is divided by its largest, then rounded."""
    rounded: set[str] = set()
    from_gelu = set(_outputs_of_gelu(model.graph))
    raised_over: set[str] = set()

    def product(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        given, weight = node.input
        raised = given in from_gelu
        if raised:
            raised_over.add(weight)
        if given not in rounded:  # once for all products it is part of
            rounded.add(given)
            yield from _rounding_raised(given) if raised else _rounding(given)
        yield from _product_raised(node) if raised else _product(node)

    _pack(model, _multiplies, 1, lambda weight: np.abs(weight).max(0) / _MOST_FACTOR, product)
    values = {one.name: one for one in model.graph.initializer}
    lowerings = {
        weight + _LOWERING: _lowering(*(numpy_helper.to_array(values[weight + part]) for part in (PACKED, SCALE)))
        for weight in sorted(raised_over)
    }
    constants = _CONSTANTS | (_RAISING_CONSTANTS | lowerings if lowerings else {})
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    model.opset_import.append(helper.make_opsetid(_CONTRIBUTED, 1))


def _pack(
    model: onnx.ModelProto,
    concerns: Callable[[onnx.NodeProto], bool],
    place: int,
    scale_of: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    instead: Callable[[onnx.NodeProto], Iterator[onnx.NodeProto]],
) -> None:
    """Pack the weights at this place among the inputs of such nodes that nothing else uses, and replace the nodes."""
    graph = model.graph
    weights = {one.name: one for one in graph.initializer if len(one.dims) == 2 and np.prod(one.dims) >= _SMALL}
    used = {node.input[place] for node in graph.node if concerns(node)} & set(weights)
    used_otherwise = {
        name for node in graph.node for at, name in enumerate(node.input) if not (at == place and concerns(node))
    }
    packed = used - used_otherwise
    nodes = [new for node in graph.node for new in (instead(node) if set(node.input) & packed else [node])]
    kept = [one for one in graph.initializer if one.name not in packed]
    for name in sorted(packed):
        numbers = numpy_helper.to_array(weights[name])
        scale = np.maximum(scale_of(numbers), np.finfo(np.float32).tiny).astype(np.float32)
        kept.append(numpy_helper.from_array(np.rint(numbers / scale).astype(np.int8), name + PACKED))
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


def _multiplies(node: onnx.NodeProto) -> bool:
    return bool(node.op_type == "MatMul")


def _outputs_of_gelu(graph: onnx.GraphProto) -> Iterator[str]:
    """The names of x · (erf(x / √2) + 1) · ½, which is how torch writes GELU."""
    makers = {output: node for node in graph.node for output in node.output}

    def inputs(node: onnx.NodeProto, kind: str) -> list[onnx.NodeProto]:
        return [makers[name] for name in node.input if name in makers and makers[name].op_type == kind]

    for half in graph.node:
        if half.op_type == "Mul" and any(
            inputs(added, "Erf") and inputs(half, "Constant")
            for product in inputs(half, "Mul")
            for added in inputs(product, "Add")
        ):
            yield half.output[0]


def _rounding(given: str) -> Iterator[onnx.NodeProto]:
    """Divide each row by its largest number, and round it to whole numbers around 128."""
    sizes, largest, divisor, fraction, whole = (f"{given}_{part}" for part in ("sizes", "largest", *_ROUNDED))
    yield helper.make_node("Abs", [given], [sizes], name=sizes)
    yield helper.make_node("ReduceMax", [sizes], [largest], name=largest, axes=[-1], keepdims=1)
    yield helper.make_node("Max", [largest, _LEAST], [divisor], name=divisor)
    yield helper.make_node("Div", [given, divisor], [fraction], name=fraction)
    yield helper.make_node("QuantizeLinear", [fraction, _STEP, _ZERO], [whole], name=whole)


def _rounding_raised(given: str) -> Iterator[onnx.NodeProto]:
    """The same of what is never far below zero, around 0 after it was raised."""
    raised, largest, divisor, fraction, whole = (f"{given}_{part}" for part in ("raised", "largest", *_ROUNDED))
    yield helper.make_node("Add", [given, _RAISE], [raised], name=raised)
    yield helper.make_node("ReduceMax", [raised], [largest], name=largest, axes=[-1], keepdims=1)
    yield helper.make_node("Max", [largest, _LEAST], [divisor], name=divisor)
    yield helper.make_node("Div", [raised, divisor], [fraction], name=fraction)
    yield helper.make_node("QuantizeLinear", [fraction, _RAISED_STEP, _RAISED_ZERO], [whole], name=whole)


def _product(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Multiply in whole numbers, and give every row its size back."""
    (given, weight), (found,) = node.input, node.output
    divisor, _, whole = (f"{given}_{part}" for part in _ROUNDED)
    factors = [whole, weight + PACKED, _STEP, weight + SCALE, _ZERO]
    yield helper.make_node("MatMulIntegerToFloat", factors, [f"{found}_part"], name=node.name, domain=_CONTRIBUTED)
    yield helper.make_node("Mul", [f"{found}_part", divisor], [found], name=f"{node.name}_size")


def _product_raised(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """The same, without what raising added."""
    (given, weight), (found,) = node.input, node.output
    divisor, _, whole = (f"{given}_{part}" for part in _ROUNDED)
    factors = [whole, weight + PACKED, _RAISED_STEP, weight + SCALE, _RAISED_ZERO]
    yield helper.make_node("MatMulIntegerToFloat", factors, [f"{found}_part"], name=node.name, domain=_CONTRIBUTED)
    yield helper.make_node("Mul", [f"{found}_part", divisor], [f"{found}_raised"], name=f"{node.name}_size")
    yield helper.make_node("Add", [f"{found}_raised", weight + _LOWERING], [found], name=f"{node.name}_lowering")


def _lowering(packed: NDArray[np.int8], scale: NDArray[np.float32]) -> NDArray[np.float32]:
    """What raising a row adds to its product with a weight, negative."""
    lowering: NDArray[np.float32] = np.float32(-_DEPTH) * scale * packed.sum(0, dtype=np.int64).astype(np.float32)
    return lowering
