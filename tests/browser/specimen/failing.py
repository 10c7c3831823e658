"""A page that fails."""

raise RuntimeError("secret detail")
