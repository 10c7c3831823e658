"""Parts of the Accuracy page."""
