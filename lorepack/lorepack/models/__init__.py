"""Embedding models: which there are, where their weights come from, how text becomes vectors."""
