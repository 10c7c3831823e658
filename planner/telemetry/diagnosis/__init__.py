"""What a trace says about how well its GPUs work: ordered rules with their evidence, and what they could not tell."""
