"""Scenarios from tables and files: bad cells named with their rows, good rows kept, hostile files refused."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.capacity.read import WORKLOAD_COLUMNS, from_json, rows_of_text, scenario_of, to_json
from planner.commands.main import main
from planner.result import InputError

START = date(2026, 11, 30)
POOL = {"name": "a", "gpu": "H100 SXM5 80GB", "nodes": 2, "gpus_per_node": 8}
JOB = {"name": "j", "gpus": 8, "gpu_hours": 1000}


def read(pools: list[dict[str, Any]], workloads: list[dict[str, Any]]) -> Any:
    return scenario_of(pools, workloads, start=START, weeks=20, growth_per_year=0.0)


def test_cells_become_weeks_and_ids() -> None:
    pools = [{**POOL, "from": "2026-12-02", "until": "2026-12-28"}]
    made, problems = read(
        pools, [{**JOB, "gpu_types": "l40s|h100-sxm5-80gb", "start": "2026-12-07", "deadline": "2026-12-20"}]
    )
    assert problems == ()
    assert (made.pools[0].gpu, made.pools[0].first_week, made.pools[0].last_week) == ("h100-sxm5-80gb", 1, 4)
    (job,) = made.workloads
    assert (job.gpu_types, job.start_week, job.deadline_week) == (("l40s", "h100-sxm5-80gb"), 1, 2)


def test_a_bad_row_is_named_and_the_others_are_kept() -> None:
    rows = [
        JOB,
        {**JOB, "name": "k", "gpus": "many"},
        {**JOB, "name": "l", "deadline": "soon"},
        {**JOB, "name": "m", "gpus": -1},
        JOB,
        {},
    ]
    made, problems = read([POOL, {**POOL, "name": "b", "gpu": "no such"}], rows)
    assert [w.name for w in made.workloads] == ["j"]
    assert [(p.code, p.field) for p in problems] == [
        ("unknown-gpu", "pools[2].gpu"),
        ("not-an-integer", "workloads[2].gpus"),
        ("not-a-date", "workloads[3].deadline"),
        ("out-of-range", "workloads[4].gpus"),
        ("name-taken", "workloads.name"),
    ]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_tables_of_any_make_are_read(mark: str, encoding: str) -> None:
    text = mark.join(["Name", "GPUs", "GPU hours"]) + "\r\n" + mark.join(["تدريب", "8", "100"]) + "\r\n\r\n"
    assert rows_of_text(text.encode(encoding), WORKLOAD_COLUMNS) == [{"name": "تدريب", "gpus": "8", "gpu_hours": "100"}]


def test_a_table_without_its_columns_says_which() -> None:
    with pytest.raises(InputError) as caught:
        rows_of_text("a,b\n1,2", WORKLOAD_COLUMNS)
    assert caught.value.problems[0].parameters["missing"] == ["name", "gpus"]
    with pytest.raises(InputError):
        rows_of_text(b"\n \n", WORKLOAD_COLUMNS)


def test_a_file_comes_back() -> None:
    rows = {"start": "2026-11-30", "weeks": 20, "growth_per_year": 0.5, "pools": [POOL], "workloads": [JOB]}
    made, again, problems = from_json(json.dumps(to_json(rows)))
    assert problems == ()
    assert again == rows
    assert made.growth_per_year == 0.5


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda c: st.lists(c, max_size=3) | st.dictionaries(st.text(), c, max_size=3),
    ),
    st.sampled_from(["pools", "workloads", "start", "weeks", "growth_per_year"]),
)
def test_nothing_but_problems_comes_of_rubbish(value: Any, where: str) -> None:
    file = {
        **to_json({"start": "2026-11-30", "weeks": 5, "growth_per_year": 0, "pools": [POOL], "workloads": [JOB]}),
        where: value,
    }
    try:
        from_json(json.dumps(file))
    except InputError:
        return


def test_the_command_says_what_runs(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "s.json"
    rows = {"start": "2026-11-30", "weeks": 20, "growth_per_year": 0.0, "pools": [POOL], "workloads": [JOB]}
    path.write_text(json.dumps(to_json(rows)))
    assert main(["capacity", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["waits_hours"] == {"j": 0.0}
    path.write_text(json.dumps(to_json({**rows, "workloads": [{**JOB, "gpus": 99}]})))
    assert main(["capacity", str(path)]) == 1
    path.write_text("{")
    assert main(["capacity", str(path)]) == 2
    assert main(["capacity", str(tmp_path / "none.json")]) == 2


def test_the_command_prints_json_and_nothing_else(tmp_path: Any) -> None:
    path = tmp_path / "s.json"
    rows = {"start": "2026-11-30", "weeks": 20, "growth_per_year": 0.0, "pools": [POOL], "workloads": [JOB]}
    path.write_text(json.dumps(to_json(rows)))
    command = [sys.executable, "-m", "planner", "capacity", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert json.loads(done.stdout)["unplaced"] == []
