"""Reading GPUs that are here. Every metric is a value or a reason why there is none; a UUID is a GPU's identity."""
