"""Join ranked lists into one."""

from __future__ import annotations

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""
