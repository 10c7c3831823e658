"""Out-of-memory helper: what a pasted error or engine log says, beside what the planner expected."""
