"""Parts of the Monitor page."""
