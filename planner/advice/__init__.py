"""What to change: candidate changes of a plan, each evaluated by the planner and ranked by its predicted effect."""
