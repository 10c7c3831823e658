"""Reports: what a page shows, as a file. One description (`report.py`), one file a format, one file a subject."""
