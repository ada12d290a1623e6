"""Begin a vault, or a workflow that publishes a recipe."""
