"""Packs as a server has them: mounted, swapped, mirrored, described."""
