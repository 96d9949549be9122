"""Make follow-up utterances stand on their own, by editing them with words of their dialogue."""

__version__ = "0.1.0"
