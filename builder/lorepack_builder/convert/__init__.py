"""Bytes into text, and HTML into Markdown: what acquire and parse share."""
