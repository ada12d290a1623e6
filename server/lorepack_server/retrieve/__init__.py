"""Find the right chunks: words and meaning, fused by rank."""
