"""Which hardware: a plan's work on every accelerator, in several numbers, from every offer."""
