"""Memory, time and cost of GPU work, planned before the GPU is rented."""

__version__ = "0.2.0"
