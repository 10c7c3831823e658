"""Parts of the Check code page."""
