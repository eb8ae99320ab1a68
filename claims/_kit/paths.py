"""Where a claim's file lies. It needs nothing but Python, for the scaffold that runs anywhere."""

from __future__ import annotations


def file_of(claim_id: str) -> str:
    """The file of a claim, below the folder of all claims."""
    family, sentence = claim_id.split("/")
    return f"{family}/test_{sentence.replace('-', '_')}.py"
