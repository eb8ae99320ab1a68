"""Stands in for a tokenizer that old grammar engines import to recognise it, and never use."""

from __future__ import annotations


class SentencePieceProcessor:
    """Nothing is one of these."""
