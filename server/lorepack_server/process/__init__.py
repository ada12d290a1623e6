"""A server as a process: logs, siblings, a heartbeat, and its end."""
