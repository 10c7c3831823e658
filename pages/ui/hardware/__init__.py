"""The parts of the Hardware page."""
