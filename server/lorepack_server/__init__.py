"""Serve packs, read-only: search, MCP tools, and the site."""
