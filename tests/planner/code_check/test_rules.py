"""Every rule is met by its bad script and by nothing in the repaired one; and hostile input is refused in words."""

import contextlib
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.code_check.catalogue import RULES
from planner.code_check.check import check
from planner.code_check.gains import gain
from planner.code_check.source import LARGEST
from planner.plan.plan import resolve
from planner.result import InputError
from tests.planner.code_check.bad_and_good import CLEAN_LOOP, PAIRS, loop
from tests.planner.code_check.shapes import SHAPES


def ids(code: str, name: str = "") -> set[str]:
    return {finding.id for finding in check(code, name).findings}


def test_every_rule_has_a_bad_and_a_good_script() -> None:
    assert PAIRS.keys() == RULES.keys()


@pytest.mark.parametrize("id", sorted(PAIRS))
def test_the_rule_is_met_once_and_not_after_the_repair(id: str) -> None:
    bad, good = PAIRS[id]
    assert id in ids(bad)
    assert id not in ids(good)


@pytest.mark.parametrize("id", sorted(PAIRS))
def test_the_place_is_a_line_of_the_script(id: str) -> None:
    code = PAIRS[id][0]
    for finding in check(code).findings:
        assert finding.code == code.split("\n")[finding.line - 1].strip()
        assert finding.lines[0] == finding.line
        assert finding.fix


def test_a_loop_without_a_fault_has_no_finding() -> None:
    report = check(CLEAN_LOOP)
    assert report.findings == ()
    assert report.loops == 1
    assert report.frameworks == ("PyTorch",)


def test_samples_of_repairs_are_python() -> None:
    for id, rule in RULES.items():
        code = rule.fix + "\n    pass" if rule.fix.rstrip().endswith(":") else rule.fix
        compile(code, id, "exec")


def test_helpers_are_followed_and_aliases_known() -> None:
    code = """
import torch as t
from torch import cuda as c
def log(loss):
    record(loss)
def record(loss):
    values.append(loss.item())
def one_step(batch):
    loss = model(batch.to("cuda")).loss
    loss.backward()
    opt.step()
    c.empty_cache()
    bookkeeping(loss)
def bookkeeping(loss):
    print(loss)
for batch in data:
    one_step(batch)
"""
    assert {"sync.empty-cache", "sync.print"} <= ids(code)


def test_what_is_rare_is_no_finding() -> None:
    for condition in ("step % 10 == 0", "not step % 10", "step == 0", "args.debug", "time.time() - last > 60"):
        assert ids(loop(f"if {condition}:\n    print(loss.item())\n    torch.cuda.synchronize()")) == set(), condition
    assert ids(loop("if step % 10:\n    continue\nprint(loss.item())")) == set()
    assert "sync.item" in ids(loop("if rank == 0:\n    total += loss.item()"))


def test_losses_made_of_losses_keep_their_graph_rightly() -> None:
    body = "\n".join(f"        {line}" for line in ("loss = 0", "for part in parts:", "    loss += head(part)"))
    code = CLEAN_LOOP.replace("        optimizer.zero_grad()", body + "\n        optimizer.zero_grad()")
    assert "leak.kept-graph" not in ids(code)


def test_notebooks_are_read_by_cell() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Training"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install torch\n", "import os"]},
        {"cell_type": "code", "source": loop("total += loss.item()")},
        {"cell_type": "code", "source": ["%%bash\n", "echo a b c"]},
    ]
    report = check(json.dumps({"cells": cells, "nbformat": 4}), "train.ipynb")
    assert [(one.id, one.cell) for one in report.findings] == [("sync.item", 3)]


@pytest.mark.parametrize(
    ("code", "name", "problem"),
    [
        ("", "", "nothing-pasted"),
        ("x = ", "", "not-python"),
        ("a\x00b", "", "not-python"),
        ("x = 1\n" * (LARGEST // 6 + 1), "", "text-too-long"),
        ("x = " + "-" * 5000 + "1", "", "text-too-long"),
        ("x = " + "(" * 5000, "", "not-python"),
        ("a" + ".b" * 100_000, "", "text-too-long"),
        ("{", "a.ipynb", "not-a-notebook"),
        ('{"cells": 3}', "a.ipynb", "not-a-notebook"),
        ("[" * 100_000, "a.ipynb", "not-a-notebook"),
    ],
)
def test_bad_input_is_refused(code: str, name: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        check(code, name)
    assert error.value.problems[0].code == problem


def test_the_largest_script_is_read_in_time() -> None:
    many = "\n".join(f"def f{i}(x):\n    return f{i + 1}(x).item()" for i in range(9000))
    bodies = ["x.to(device)", "d = d.map(f)", "DataLoader(d)", "model.eval()", "y = model(x)", "losses.append(loss)"]
    scripts = [CLEAN_LOOP + many]
    scripts += [loop("\n".join([body] * (300_000 // (len(body) + 9)))) for body in bodies]
    for code in scripts:
        assert len(code) < LARGEST
        start = time.process_time()
        check(code)
        assert time.process_time() - start < 10


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_gets_a_report_or_a_sentence(text: str) -> None:
    with contextlib.suppress(InputError):
        check(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(sorted(PAIRS)), min_size=1, max_size=4), st.randoms())
def test_cut_scripts_never_break_it(chosen: list[str], random: object) -> None:
    code = "\n".join(PAIRS[id][0] for id in chosen)
    lines = code.split("\n")
    random.shuffle(lines)  # type: ignore[attr-defined]
    for text in ("\n".join(lines), code[: len(code) // 2]):
        with contextlib.suppress(InputError):
            check(text)


def test_gains_come_from_the_plan() -> None:
    plan = resolve({"task": "train", "model": "openai-community/gpt2"})
    found = {one.id: one for one in check(loop(calm=False)).findings}
    bf16 = gain(found["precision.none"], plan)
    assert bf16 is not None
    assert bf16.speed is not None
    assert bf16.speed > 1.2
    assert bf16.memory < 1
    assert bf16.applied  # the plan's own default
    assert gain(found["precision.tf32"], resolve({"task": "serve"})) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_common_shapes_have_the_findings_they_deserve_and_no_other(shape: str) -> None:
    code, expected = SHAPES[shape]
    assert ids(code) == expected
