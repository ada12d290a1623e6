"""Small things that both sides need: hashes, temporary files, untrusted JSON."""
