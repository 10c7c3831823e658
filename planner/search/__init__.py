"""Every parallel layout of a plan's work on a cluster: counted, scored by the planner, and the best few explained."""
