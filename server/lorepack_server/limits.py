"""What a server allows where nothing else is said; kept apart, as reading it must cost nothing."""

from __future__ import annotations

MAX_CALLS = 64
"""Calls being answered or waiting; one more is told to come again."""
TIMEOUT_SECONDS = 30.0
"""How long a call may take."""
HEARTBEAT_SECONDS = 60.0
"""Between two lines in the log about the process."""
RERANK_BUDGET_MS = 300
"""How long a cross-encoder may read, where it is asked for without a time."""
