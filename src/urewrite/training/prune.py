"""A smaller start: of a trained BiLSTM only the units that the rest of the network listens to most.

A BiLSTM reads its recurrent weights once a word. Where they fit a core's cache it is much faster, so a little quality
buys a lot of speed, and training on gets most of the quality back.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from urewrite.errors import BadInputError

_FIELD = "start.hidden"
_LSTM = "context_layer.bilstm.lstm"
_DIRECTIONS = ("", "_reverse")
_GATES = 4
_PROJECTION, _BILINEAR = "encoding_layer.project_features", "encoding_layer.bilinear.weight"
_LISTENERS = {
    _PROJECTION: (1,),
    _BILINEAR: (0, 1),
    "encoding_layer.linear_context.weight": (1,),
    "encoding_layer.linear_utterance.weight": (1,),
}
"""What reads the states of words, and which of its axes stand for their features, forward units first."""


def with_fewer_units(weights: Mapping[str, Tensor], hidden: int) -> dict[str, Tensor]:
    """The weights of the same network with `hidden` units per direction."""
    if f"{_LSTM}.weight_hh_l0" not in weights or _PROJECTION not in weights:
        raise BadInputError("only a network with a bottleneck and without an encoder can be made smaller", field=_FIELD)
    before = weights[f"{_LSTM}.weight_hh_l0"].shape[1]
    if hidden > before:
        raise BadInputError(f"the model has only {before} units per direction", field=_FIELD)
    smaller = dict(weights)
    kept: list[Tensor] = []
    for number, direction in enumerate(_DIRECTIONS):
        recurrent = weights[f"{_LSTM}.weight_hh_l0{direction}"]
        heard = weights[_PROJECTION][:, number * before : (number + 1) * before]
        matters = _shares(heard) + _shares(recurrent)
        units = matters.topk(hidden).indices.sort().values
        rows = torch.cat([gate * before + units for gate in range(_GATES)])
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            smaller[f"{_LSTM}.{name}{direction}"] = weights[f"{_LSTM}.{name}{direction}"][rows]
        smaller[f"{_LSTM}.weight_hh_l0{direction}"] = recurrent[rows][:, units]
        kept.append(number * before + units)
    features = torch.cat(kept)
    for name, axes in _LISTENERS.items():
        for axis in axes if name in weights else ():
            smaller[name] = smaller[name].index_select(axis, features)
    if _BILINEAR in smaller:  # which is divided by the root of the number of features
        smaller[_BILINEAR] = smaller[_BILINEAR] * (hidden / before) ** 0.5
    return smaller


def _shares(readers: Tensor) -> Tensor:
    """How much of what is read comes from each unit, given the weights (readers, units)."""
    sizes = readers.square().sum(0)
    return sizes / sizes.sum().clamp_min(torch.finfo(sizes.dtype).tiny)
