"""Parts of the Environment page."""
