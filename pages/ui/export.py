"""Files out of the page: CSV and JSON, made only when they are asked for."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import streamlit as st

from pages.ui.text import Text, plain

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


class Headed(Protocol):
    """A column: anything with a heading."""

    @property
    def heading(self) -> str: ...


def csv_text(columns: Sequence[Headed], rows: Sequence[Sequence[Any]]) -> str:
    """Comma-separated values with a byte-order mark, so that spreadsheets read Arabic; numbers stay bare numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(column.heading) for column in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return "\ufeff" + out.getvalue()


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if value is None or isinstance(value, bool | int | float):
        return value
    shown = plain(str(value))
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown


def json_text(value: Any) -> str:
    """Readable JSON; Arabic stays Arabic."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False, default=str)


def download(label: str, make: Callable[[], str], *, file_name: str, mime: str, key: str) -> None:
    """A button that makes its file when pressed, and does not rerun the page."""
    st.download_button(
        label, lambda: make().encode("utf-8"), file_name=file_name, mime=mime, key=key, on_click="ignore"
    )


def download_csv(text: Text, columns: Sequence[Headed], rows: Sequence[Sequence[Any]], *, name: str, key: str) -> None:
    """The button under a table."""
    download(text.t("Download CSV"), lambda: csv_text(columns, rows), file_name=f"{name}.csv", mime="text/csv", key=key)


def download_json(text: Text, make: Callable[[], Any], *, name: str, key: str) -> None:
    """The button beside a plan or a result; `make` gives what is written."""
    download(
        text.t("Download JSON"), lambda: json_text(make()), file_name=f"{name}.json", mime="application/json", key=key
    )
