"""How runs are shown: pure functions from ledger rows to HTML, SVG and text."""
