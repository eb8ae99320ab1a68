"""The language claims are written in. It knows no model, no engine and no page."""
