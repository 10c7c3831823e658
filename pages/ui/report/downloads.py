"""The button that gives a report in each format. Nothing is made before a format is asked for."""

from collections.abc import Callable

import streamlit as st

from pages.ui import export
from pages.ui.report.report import Report
from pages.ui.tables import Column
from pages.ui.text import Text


def draw(text: Text, make: Callable[[], Report], *, name: str, key: str) -> None:
    """A popover with the formats; `make` builds the report."""
    report = st.popover(text.t("Report"), key=key, icon=":material/description:", on_change="rerun")
    if not report.open:
        return
    with report:
        for label, ending, mime, write in _formats(text):
            st.download_button(
                label,
                _writer(write, make),
                file_name=f"{name}.{ending}",
                mime=mime,
                key=f"{key}-{ending}",
                on_click="ignore",
                width="stretch",
            )


def _writer(write: Callable[[Report], bytes], make: Callable[[], Report]) -> Callable[[], bytes]:
    return lambda: write(make())


def _formats(text: Text) -> list[tuple[str, str, str, Callable[[Report], bytes]]]:
    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return [
        (text.t("Web page (HTML)"), "html", "text/html", lambda report: _html(text, report)),
        (text.t("Document (PDF)"), "pdf", "application/pdf", lambda report: _pdf(text, report)),
        (text.t("Workbook (Excel)"), "xlsx", sheet, lambda report: _workbook(text, report)),
        (text.t("Tables (CSV)"), "csv", "text/csv", _csv),
        (text.t("Text (Markdown)"), "md", "text/markdown", lambda report: _markdown(text, report)),
        (text.t("Data (JSON)"), "json", "application/json", lambda report: export.json_text(report.data).encode()),
    ]


# Imported when asked for: the PDF's library alone takes half a second.


def _html(text: Text, report: Report) -> bytes:
    from pages.ui.report.web import html

    return html(text, report).encode()


def _pdf(text: Text, report: Report) -> bytes:
    from pages.ui.report.paper import pdf

    return pdf(text, report)


def _workbook(text: Text, report: Report) -> bytes:
    from pages.ui.report.sheet import workbook

    return workbook(text, report)


def _markdown(text: Text, report: Report) -> bytes:
    from pages.ui.report.markdown import markdown

    return markdown(text, report).encode()


def _csv(report: Report) -> bytes:
    """All tables in one file, each under its caption."""
    mark = "\ufeff"  # once, at the start of the file
    pieces = []
    for one in report.tables:
        caption = export.csv_text([Column(id="caption", label=one.caption)], [])
        pieces.append((caption + export.csv_text(one.columns, one.rows)).replace(mark, ""))
    return (mark + "\r\n".join(pieces)).encode()
