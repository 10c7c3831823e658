"""The parts of the Capacity page."""
