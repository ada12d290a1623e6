"""The HTTP side: the API, the site, limits and metrics."""
