"""The pack file: its format, and what opens, verifies, signs, compares and exports one."""
