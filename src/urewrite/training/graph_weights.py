"""Weights to train from that are read back out of a graph, so that a small model need not be shipped twice.

When a graph is written, each of its constants that is a weight of the network is noted in it by name. Whoever goes on
training takes these from the graph, unpacked from 8 bits where need be, and only the rest from `model.safetensors`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import numpy_helper

from urewrite.errors import BadInputError
from urewrite.training.eight_bits import PACKED, SCALE

NOTE = "weights"
"""The key of the note among a graph's metadata: constant to [weight, whether it is transposed]."""


def note_weights(path: Path, weights: Mapping[str, torch.Tensor]) -> set[str]:
    """Write into a float graph which of its constants are weights; gives the names of those found."""
    graph = onnx.load(str(path))
    by_size: dict[int, list[str]] = {}
    for name, tensor in weights.items():
        if tensor.ndim > 1:
            by_size.setdefault(tensor.numel(), []).append(name)
    noted: dict[str, tuple[str, bool]] = {}
    for constant in graph.graph.initializer:
        held = numpy_helper.to_array(constant)
        for name in by_size.get(held.size, ()) if held.ndim > 1 else ():
            weight = weights[name].numpy()
            if held.shape == weight.shape and np.array_equal(held, weight):
                noted[constant.name] = name, False
            elif held.shape == weight.shape[::-1] and np.array_equal(held, weight.T):
                noted[constant.name] = name, True
    entry = graph.metadata_props.add()
    entry.key, entry.value = NOTE, json.dumps(noted)
    onnx.save(graph, str(path))
    return {name for name, _ in noted.values()}


def read_weights(path: Path, wanted: Collection[str]) -> dict[str, torch.Tensor]:
    """Those of the wanted weights that a graph holds."""
    try:
        graph = onnx.load(str(path))
    except (OSError, DecodeError) as error:
        raise BadInputError(f"is no graph that can be read: {error}", file=path) from error
    notes = {entry.key: entry.value for entry in graph.metadata_props}
    constants = {constant.name: constant for constant in graph.graph.initializer}
    found: dict[str, torch.Tensor] = {}
    for constant, (name, transposed) in json.loads(notes.get(NOTE, "{}")).items():
        held = _unpacked(constant, constants) if name in wanted else None
        if held is not None:
            found[name] = torch.from_numpy(np.array(held.T if transposed else held, dtype=np.float32, order="C"))
    return found


def _unpacked(name: str, constants: Mapping[str, onnx.TensorProto]) -> NDArray[np.float32] | None:
    """A constant as it is, or what its 8 bits stand for: one scale for each column of a matrix or row of a table."""
    if name in constants:
        held: NDArray[np.float32] = numpy_helper.to_array(constants[name])
        return held
    if name + PACKED not in constants:
        return None
    packed, scale = (numpy_helper.to_array(constants[name + part]).astype(np.float32) for part in (PACKED, SCALE))
    if f"{name}_zero_point" in constants:
        packed -= numpy_helper.to_array(constants[f"{name}_zero_point"])
    unpacked: NDArray[np.float32] = packed * scale
    return unpacked
