"""What a build remembers: files by their hashes, parsed, embedded and rendered pages."""
