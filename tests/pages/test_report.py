"""Reports: the figures of the page in every format, both languages; nothing in them is run or taken for a formula."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl

import openpyxl
import pytest

from pages.ui.compare.links import entry
from pages.ui.compare.report import report as comparison
from pages.ui.report import plan as subject
from pages.ui.report.downloads import _csv
from pages.ui.report.markdown import markdown
from pages.ui.report.paper import pdf
from pages.ui.report.report import Paragraph, Report, Table
from pages.ui.report.sheet import workbook
from pages.ui.report.web import html
from pages.ui.text import plain, text_in
from planner.calibration.intervals import interval
from planner.estimate import estimate
from planner.plan.plan import parse, resolve
from planner.plan.presets import PRESETS
from planner.plan.request import request_of

HOSTILE = "=cmd()|<script>alert(1)</script>\u202e"


def made(language: str, id: str = "finetune-8b") -> tuple[Report, Any]:
    plan = resolve(PRESETS[id])
    request = request_of(plan)
    result = estimate(request)
    return subject.report(text_in(language), plan, request, result), result


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("id", PRESETS)
def test_every_format_has_the_figures_of_the_page(id: str, language: str) -> None:
    text = text_in(language)
    report, result = made(language, id)
    required = plain(text.bytes(result.memory.required))
    assert required in plain(html(text, report))
    assert required in markdown(text, report).replace("\\", "")
    assert json.loads(json.dumps(report.data, default=str))["memory"]["required_bytes"] == round(result.memory.required)
    book = openpyxl.load_workbook(io.BytesIO(workbook(text, report)))
    assert len(book.sheetnames) == len(report.tables)
    parts = next(table for table in report.tables if table.columns[1].id == "size")
    sheet = book.worksheets[report.tables.index(parts)]
    total = sum(row[1].value for row in sheet.iter_rows(min_row=2))
    assert total * 2**30 == pytest.approx(result.memory.required)
    assert bytes(pdf(text, report)).startswith(b"%PDF")


def test_the_web_page_needs_nothing_and_runs_nothing() -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.addresses: list[str] = []

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            self.tags.add(tag)
            self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]

    reader = Reader()
    page = html(text_in("ar"), made("ar")[0])
    reader.feed(page)
    assert not reader.tags & {"script", "link", "iframe", "img", "object"}
    assert reader.addresses == []
    assert not re.search(r"url\((?!data:)", page)
    assert '<html lang="ar" dir="rtl">' in page


def test_hostile_names_are_only_text() -> None:
    text = text_in("en")
    solved = [(one, one.solved()[1]) for one in (entry("gpu=l40s", HOSTILE), entry("gpu=l4", "@b"))]
    report = comparison(text, solved)
    assert "<script>alert" not in html(text, report)
    assert "<script>" not in markdown(text, report)
    for cell in re.findall(r'(?:^|,)"?([^",\r\n]*)', _csv(report).decode("utf-8-sig"), flags=re.MULTILINE):
        assert not cell.startswith(("=", "@", "+", "\t"))
    book = openpyxl.load_workbook(io.BytesIO(workbook(text, report)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert any("cmd()" in str(cell.value) for cell in cells)
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert "\u202e" not in html(text, report)


def test_a_name_makes_no_cell_of_its_own_and_no_link_on_paper() -> None:
    text = text_in("en")
    name = "a,=cmd() [x](https://evil.example) **b**"
    solved = [(one, one.solved()[1]) for one in (entry("gpu=l40s", name), entry("gpu=l4"))]
    report = comparison(text, solved, [entry("gpus=-3", "Bad")])
    cells = [cell for row in csv.reader(io.StringIO(_csv(report).decode("utf-8-sig"))) for cell in row]
    assert any("=cmd()" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert b"/URI" not in bytes(pdf(text, report))
    assert "\u22123" in markdown(text, report)


def test_the_link_in_a_report_gives_the_plan_back() -> None:
    report, _ = made("en")
    (link,) = [block.words for block in report.blocks if isinstance(block, Paragraph) and block.words.startswith("?")]
    assert parse(dict(parse_qsl(link[1:]))) == (resolve(PRESETS["finetune-8b"]), ())


def test_defaults_ranges_and_what_was_never_checked_are_said() -> None:
    text = text_in("en")
    plan = resolve({"task": "serve", "model": "Qwen/Qwen3-8B", "gpu": "l40s", "engine": "sglang"})
    request = request_of(plan)
    result = estimate(request)
    page = plain(html(text, subject.report(text, plan, request, result)))
    assert "default" in page
    assert "never checked" in page
    assert plain(text.bytes(interval(result, request).required.low)) in page


def test_sheets_with_one_name_are_told_apart() -> None:
    table = Table("A: b/c?" * 9, [], [])
    book = openpyxl.load_workbook(io.BytesIO(workbook(text_in("en"), Report("r", "t", [table, table, table], {}))))
    assert len(set(book.sheetnames)) == 3
