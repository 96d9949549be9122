"""Run: the exported graph in ONNX Runtime, which is all the machinery a user needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from urewrite.edits.choose import Probabilities
from urewrite.errors import BadInputError
from urewrite.prepare import GridArrays

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

OUTPUT = "probabilities"


class GraphRun:
    """A `Run` of a graph; many threads may call it at once."""

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        if threads is not None:
            options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Grids come in many sizes, for which a plan of memory would be made and kept each.
        options.enable_mem_pattern = False
        try:
            self._session: InferenceSession = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library has a kind for each cause, none of them public
            raise BadInputError(f"is no graph that can be run: {error}", file=path) from error
        self._inputs = tuple(given.name for given in self._session.get_inputs())
        unknown = set(self._inputs) - set(GridArrays._fields)
        if unknown or [given.name for given in self._session.get_outputs()] != [OUTPUT]:
            raise BadInputError("is a graph of something else: its inputs and outputs are not ours", file=path)

    def __call__(self, arrays: GridArrays) -> Probabilities:
        """Probabilities (batch, edit types, rows, columns)."""
        given = arrays._asdict()
        found: Probabilities = self._session.run([OUTPUT], {name: given[name] for name in self._inputs})[0]
        return np.asarray(found)
