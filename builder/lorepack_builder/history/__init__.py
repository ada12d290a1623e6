"""What came before: the previous pack, and what changed since."""
