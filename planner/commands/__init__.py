"""Subcommands of `python -m planner`, one file each."""
