"""A project's manifests: which there are, and what they ask for."""
