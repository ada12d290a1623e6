"""How well a pack answers: judged questions, asked of each branch."""
