"""The parts of the Saved page, and of saving on the Plan page."""
