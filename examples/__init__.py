"""Caches and attentions of one's own, for ``pytest -m fuzz``: one right, one with a bug."""
