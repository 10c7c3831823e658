"""The pages of the dashboard, one short file each, and what they share in `pages.ui`."""
