"""Small computations that lessons need beyond the planner: number formats, answers to tasks, searches for sizes."""
