"""A report as plain values, for JSON."""

from collections.abc import Mapping
from typing import Any

from planner.code_check.catalogue import RULES
from planner.code_check.finding import Report


def as_mapping(report: Report) -> Mapping[str, Any]:
    """Everything but the code itself."""
    return {
        "frameworks": list(report.frameworks),
        "training_loops": report.loops,
        "findings": [
            {
                "id": one.id,
                "severity": one.severity,
                "line": one.line,
                "lines": list(one.lines),
                **({} if one.cell is None else {"cell": one.cell}),
                "code": one.code,
                "fix": one.fix,
                "source": RULES[one.id].source,
            }
            for one in report.findings
        ],
    }
