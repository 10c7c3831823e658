"""Rules that others estimate by, on the same requests: what a published formula would have said."""
