"""Launch, import, and the out-of-memory helper: parts of the Plan page, drawn only when they are opened."""
