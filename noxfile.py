"""Everything CI checks, and the suite on every supported Python: `nox` runs all, `nox -s tests-3.12` one."""

import nox

nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the suite on one Python, without what needs torch; arguments after -- go to pytest."""
    session.install("-c", "constraints.txt", "-e", ".[test]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, formatting and types."""
    session.install("-c", "constraints.txt", "-e", ".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site; a broken link or reference is an error."""
    session.install("-c", "constraints.txt", "-e", ".[dev]")
    session.run("mkdocs", "build", "--strict")
