"""The findings as Markdown, for an issue or a review."""

from pages.ui.text import Text, plain
from pages.ui.words import code_check as words
from planner.code_check.catalogue import RULES
from planner.code_check.finding import Report


def as_markdown(text: Text, report: Report) -> str:
    """Every finding with its place, reason and repair, in the reader's language."""
    title = text.t("Check your training code")
    parts = [f"# {title}"]
    for one in report.findings:
        where = ", ".join(map(str, one.lines)) if one.cell is None else f"{one.cell}"
        label = text.t("Lines") if one.cell is None else text.t("Notebook cell")
        parts.append(f"## {words.severity_name(text, one.severity)}: {words.title(text, one.id)}")
        parts.append(f"`{one.id}` · {label}: {where}")
        parts.append(_code(one.code))
        parts.append(words.reason(text, one.id))
        parts.append(_code(one.fix))
        parts.append(f"<https://{RULES[one.id].source}>")
    return plain("\n\n".join(parts)) + "\n"


def _code(code: str) -> str:
    """A fenced block that its content cannot end."""
    fence = "`" * max(3, 1 + max((len(run) for run in code.split() if set(run) == {"`"}), default=0))
    return f"{fence}python\n{code}\n{fence}"
