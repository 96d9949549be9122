"""Make follow-up utterances stand on their own, by editing them with words of their dialogue."""

from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import supervise
from urewrite.rewrite import Edit, Rewrite
from urewrite.rewriter import Rewriter

__all__ = ["ConnectionWords", "Dialogue", "Edit", "Example", "Rewrite", "Rewriter", "Turn", "decode", "supervise"]

__version__ = "0.1.0"
