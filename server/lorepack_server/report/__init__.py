"""Findings in the forms that continuous integration reads."""
