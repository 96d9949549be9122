"""Where a model folder is: bundled with the package, on disk, or on the hub."""

from __future__ import annotations

from pathlib import Path

from urewrite.bundle import CHECKSUMS, CONFIG, FILES, GRAPH
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import local_weights

MODELS = Path(__file__).with_name("models")
_FOR_RUNNING = tuple(name for name in FILES if name != "model.safetensors")


def bundled() -> tuple[str, ...]:
    """The names of the models that come with the package."""
    return tuple(sorted(path.parent.name for path in MODELS.glob(f"*/{CONFIG}")))


def resolve(model: str | Path) -> Path:
    """The folder of a model: bundled under that name, a folder, or fetched from the hub as `owner/name`."""
    given: object = model  # whatever callers without types hand over
    if not isinstance(given, (str, Path)) or not str(given).strip():
        raise BadInputError(f"expected the name of a model or a folder, found {given!r:.80}", field="model")
    name = str(model)
    if name in bundled():
        return MODELS / name
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if not isinstance(model, Path) and name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return _from_hub(name)
    known = ", ".join(bundled()) or "none is bundled"
    raise DataUnavailableError(f"there is no model {name}: expected a bundled one ({known}), a folder, or owner/name")


def to_learn_from(model: str) -> Path:
    """The folder of a model that a training goes on from or is taught by: bundled, or a path; no hub is asked."""
    return MODELS / model if model in bundled() else local_weights(model)


def graph_of(folder: Path) -> Path:
    """The graph of a model folder; a run's folder has none until it is exported."""
    path = folder / GRAPH
    if not path.is_file():
        raise DataUnavailableError(
            f"{folder} holds no {GRAPH}: run `urewrite export {folder} --output DIR` and take that folder"
        )
    return path


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download  # slow to load
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=list(_FOR_RUNNING)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DataUnavailableError(f"{name} cannot be fetched from the hub: {reason}") from error
    if (folder / CONFIG).is_file() and not (folder / CHECKSUMS).is_file():
        raise DataUnavailableError(f"{name} on the hub holds no {CHECKSUMS}, so what came of it cannot be verified")
    return folder
