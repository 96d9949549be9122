"""`urewrite` with a model that does what utterances say: `hold NAME` waits until there is a file NAME, `fail` fails.

The files are those of the folder GATES. The patch is made whenever this is loaded, so that workers, which load it
again, have it too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from urewrite.cli.main import main
from urewrite.rewriter import Rewriter

_computed = Rewriter.rewrite_batch


def _told(self, dialogues, **options):
    dialogues = list(dialogues)
    for dialogue in dialogues:
        if dialogue.utterance == "fail":
            raise RuntimeError(f"was told to by {dialogue.history[0].text}")
        if dialogue.utterance.startswith("hold "):
            gate = Path(os.environ["GATES"], dialogue.utterance.split()[1])
            while not gate.exists():
                time.sleep(0.01)
    return _computed(self, dialogues, **options)


Rewriter.rewrite_batch = _told

if __name__ == "__main__":
    main()
