"""The pack format: what the builder writes and the server reads."""
