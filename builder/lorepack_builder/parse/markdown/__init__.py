"""Obsidian's Markdown: CommonMark and what Obsidian adds, as markdown-it tokens."""
