"""The index as it is stored."""
