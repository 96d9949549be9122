"""`urewrite serve`: a model behind HTTP."""

from __future__ import annotations

import typer

from urewrite.errors import UrewriteError

TAKES_ALL = {"allow_extra_args": True, "ignore_unknown_options": True}
"""For the registration: the options are known once the extra is loaded, which other commands do not wait for."""


def serve(context: typer.Context) -> None:
    """Serve a model over HTTP, also in the shape of OpenAI's chat completions."""
    try:
        from urewrite.serve.command import run
    except ImportError as error:
        raise UrewriteError(f"serving needs the extra 'serve': pip install 'urewrite[serve]' ({error})") from error
    run(context.args)
