"""What conftest.py is wired with: how a run begins, what it judges, and how it ends."""
