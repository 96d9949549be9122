"""The flags of `urewrite serve`, made from the settings, so that none is missing and none says something else."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from urewrite.cli.output import say
from urewrite.serve.process import serve
from urewrite.serve.settings import FILE, LOOPBACK, PREFIX, ServeSettings, flag_of, load_settings

_HELP = """Serve a model over HTTP: /v1/rewrite, /v1/rewrite/batch, and /v1/chat/completions in OpenAI's shape.

Every option can also be given by the environment (in brackets) or as a line `name: value` of the file --config. An
option overrides a variable, and a variable the file. API keys are given by UREWRITE_API_KEYS or --api-key-file.

Example: urewrite serve --model auto-fast --port 8000
"""
_NO_FLAG = {"api_keys"}
_TEXTS: type = list[str]
_METAVARS: dict[type, str] = {int: "N", float: "X", Path: "FILE", str: "TEXT", _TEXTS: "TEXT"}


def run(arguments: list[str]) -> None:
    """Read the arguments of the command, and serve."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(help=_HELP)(_with_flags(_serve))
    app(arguments, prog_name="urewrite serve")


def _serve(**flags: object) -> None:
    loaded = load_settings(flags)
    for line in loaded.lines():
        say(line)
    settings = loaded.settings
    if settings.host not in LOOPBACK and not settings.keys():
        say("warning: there are no API keys, so that whoever reaches this address may use it")
    serve(settings)


def _with_flags(function: Callable[..., None]) -> Callable[..., None]:
    """The function with a parameter for each setting, as typer reads them."""
    file = f"A file of settings, as YAML. [{PREFIX}{FILE.upper()}]"
    parameters = [_parameter(FILE, Path, typer.Option(f"--{FILE}", metavar="FILE", help=file))]
    for name, field in ServeSettings.model_fields.items():
        if name not in _NO_FLAG:
            flags = [flag_of(name)] + (["--no-" + name.replace("_", "-")] if field.annotation is bool else [])
            kind = _type(field)
            option = typer.Option("/".join(flags), metavar=_METAVARS.get(kind), help=_help(name, field))
            parameters.append(_parameter(name, kind, option))
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
    return function


def _parameter(name: str, kind: type, option: object) -> inspect.Parameter:
    annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _type(field: FieldInfo) -> type:
    """What typer reads from the command line; what only the settings can check stays text."""
    kind: Any = field.annotation
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) is tuple:
        return _TEXTS
    known: type = kind if kind in (bool, int, float, Path) else str
    return known


def _help(name: str, field: FieldInfo) -> str:
    more = "" if field.default in (None, (), False) else f" Default: {field.default}."
    if _type(field) == _TEXTS:
        more = " Repeatable."
    return f"{field.description}{more} [{PREFIX}{name.upper()}]"
