"""Logs that people keep of their GPUs: nvidia-smi in its several shapes, amd-smi, and tables of one's own."""
