"""A report's tables as an Excel workbook, a sheet a table. Text is written as text: no cell becomes a formula."""

import io
import re
from typing import Any

import xlsxwriter

from pages.ui.report.report import Report
from pages.ui.text import Text, plain

_SHEET_NAME = re.compile(r"[\[\]:*?/\\']")
_LONGEST = 31  # characters of a sheet's name


def workbook(text: Text, report: Report) -> bytes:
    """The whole file."""
    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, options) as book:
        book.set_properties({"title": plain(report.title), "author": "GPU Planner"})
        bold = book.add_format({"bold": True})
        taken: set[str] = set()
        for table in report.tables:
            sheet = book.add_worksheet(_sheet_name(table.caption, taken))
            if text.rtl:
                sheet.right_to_left()
            sheet.write_row(0, 0, [plain(column.heading) for column in table.columns], bold)
            for place, row in enumerate(table.rows, start=1):
                sheet.write_row(place, 0, [_cell(value) for value in row])
            sheet.autofit()
            sheet.freeze_panes(1, 0)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else plain(str(value))


def _sheet_name(caption: str, taken: set[str]) -> str:
    """A name that Excel takes, and that no other sheet has."""
    name = _SHEET_NAME.sub(" ", plain(caption)).strip()[:_LONGEST] or "Sheet"
    place = 2
    while name.casefold() in taken:
        name = f"{name[: _LONGEST - 4]} {place}"
        place += 1
    taken.add(name.casefold())
    return name
