"""Agent clients, as people install and run them."""
