"""Compile sources into a pack: acquire → parse → link → chunk → embed → index → render → seal."""
