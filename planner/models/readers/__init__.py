"""Readers of a user's own model: configurations, weight-file headers, and models that exist only as a size.

Everything read here is hostile until proven otherwise: sizes, depths and counts are bounded before memory is spent on
them, nothing is executed, tensor data is never touched, and `InputError` is the only exception that leaves.
"""
