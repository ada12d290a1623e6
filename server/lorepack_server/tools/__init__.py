"""The MCP tools: what each takes, and how it answers from one pack."""
