"""The rules by subject; each takes a program and yields what it finds."""
