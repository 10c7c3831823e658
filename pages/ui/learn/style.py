"""The look of lessons, on the page and on paper."""

from functools import lru_cache
from pathlib import Path

_SHEET = Path(__file__).parents[3] / "assets" / "css" / "learn.css"


@lru_cache
def sheet() -> str:
    """The style element of the page."""
    return f"<style>{_SHEET.read_text('utf-8')}</style>"
