"""A plan: the flat, serialisable description that widgets, links, JSON files and the command line share."""
