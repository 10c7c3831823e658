"""Parts of the Layouts page."""
