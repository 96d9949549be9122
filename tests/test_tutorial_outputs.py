"""What the docs show as output was printed by the commands above it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

PAGE = """\
```bash
exit 1
```

Not marked, so not run.

```bash
printf 'one\\ntwo  \\n\\n' > file; echo "not shown"
```

<!-- run -->

```bash
cat file; echo "to stderr" >&2
```

<!-- output -->
<!-- /output -->

```python
print(open("file").read().split())
```

<!-- output -->

```text
of yesterday
```

<!-- /output -->

The end.
"""
FILLED = {
    "<!-- output -->\n<!-- /output -->": "<!-- output -->\n\n```text\none\ntwo\n\nto stderr\n```\n\n<!-- /output -->",
    "of yesterday": "['one', 'two']",
}


@pytest.fixture
def outputs(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module("tutorial_outputs")


@pytest.fixture
def with_outputs(outputs):
    return outputs.with_outputs


def test_marked_blocks_are_run_and_their_outputs_filled_in(with_outputs):
    expected = PAGE
    for old, new in FILLED.items():
        expected = expected.replace(old, new)
    assert with_outputs(PAGE) == expected
    assert with_outputs(expected) == expected


def test_a_block_that_fails_stops_all(with_outputs):
    with pytest.raises(SystemExit, match="exit code 3"):
        with_outputs("```bash\nexit 3\n```\n\n<!-- output -->\n<!-- /output -->\n")
    with pytest.raises(SystemExit, match="this failed"):
        with_outputs("```bash\nfalse | cat\necho fine\n```\n\n<!-- run -->\n")


def test_only_the_last_digits_may_differ(outputs):
    assert outputs.rounded('"confidence": 0.7381543342') == outputs.rounded('"confidence": 0.7381598')
    assert outputs.rounded('"confidence": 0.7381543342') != outputs.rounded('"confidence": 0.7181543342')
    assert outputs.rounded("urewrite 0.1.0, score 0.94") == "urewrite 0.1.0, score 0.94"
