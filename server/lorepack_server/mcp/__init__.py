"""The MCP side: what agents are offered, over stdio and HTTP."""
