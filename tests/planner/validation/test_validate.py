"""Tables of measurements: read in any encoding, bad lines named, good rows predicted, counted as promised."""

import csv
import io
import json
import time

import pytest

from planner.commands.main import main
from planner.hardware.catalogue import read_rows
from planner.result import InputError
from planner.validation.run import table_outcomes
from planner.validation.summary import summarise
from planner.validation.tables import Layout, read_table

FINETUNE = (
    "id,source,model,gpu,n_gpus,method,lora_rank,target_modules,weight_quant,torch_dtype,amp_flag,framework,"
    "per_device_batch,grad_accum,max_seq_len,packed,grad_checkpoint,attention,sharding,nvidia_smi_peak_mib,"
    "torch_peak_alloc_bytes,torch_alloc_after_bytes,tokens_per_second_per_gpu,outcome"
)
RAN = (
    "{id},lab/runs,mistralai/Mistral-7B-v0.1,A100-80GB,1,lora,16,q_proj k_proj v_proj o_proj,none,bfloat16,True,none,"
    "{batch},1,4096,yes,full,flash-2,none,30000,{peak},,2900,ran"
)


def table(*rows: str) -> str:
    return "\n".join([FINETUNE, *rows]) + "\n"


def outcomes_of(text: str):
    return list(table_outcomes(read_table(io.StringIO(text))))


def test_a_row_is_predicted_with_its_interval_and_verdict():
    (found,) = outcomes_of(table(RAN.format(id="X1", batch=4, peak=26_000_000_000)))
    peak = next(each for each in found.comparisons if each.quantity == "peak_allocated")
    assert peak.low < peak.predicted < peak.high
    assert peak.predicted == pytest.approx(26e9, rel=0.3)
    assert found.fits


def test_text_in_a_number_cell_is_named_and_the_next_row_is_still_predicted():
    bad, good = outcomes_of(table(RAN.format(id="X1", batch="four", peak=1), RAN.format(id="X2", batch=4, peak=26e9)))
    assert bad.skipped is not None
    assert (bad.skipped.reason, bad.skipped.line) == ("bad-number", 2)
    assert "per_device_batch" in bad.skipped.detail
    assert good.comparisons


def test_a_line_with_too_many_cells_is_told_by_its_number():
    found = outcomes_of(table(RAN.format(id="X1", batch=4, peak=26e9) + ",,,,,,,surplus"))
    assert found[-1].skipped is not None
    assert found[-1].skipped.line == 2


@pytest.mark.parametrize("text", ["", "a,b,c\n1,2,3\n", FINETUNE.replace("n_gpus,", "") + "\n"])
def test_a_table_without_its_columns_is_refused_with_their_names(text):
    with pytest.raises(InputError) as error:
        read_table(io.StringIO(text))
    assert error.value.problems[0].code in ("missing-columns", "empty-table")


def test_the_command_prints_what_it_promises_and_writes_rows(tmp_path, capsys):
    source, out = tmp_path / "runs.csv", tmp_path / "out.csv"
    text = table(RAN.format(id="é1", batch=4, peak=26_000_000_000), RAN.format(id="X2", batch="", peak="x"))
    source.write_bytes(text.encode("cp1252"))
    assert main(["validate", str(source), "--json", "--rows", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert set(summary) == {"rows", "predicted", "unsupported", "groups", "verdicts"}
    assert (summary["rows"], summary["predicted"]) == (2, 1)
    assert summary["verdicts"] == {"n": 1, "correct": 1, "false_fits": 0, "false_no_fits": 0}
    with out.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert rows[0]["id"] == "é1"
    assert {row["status"] for row in rows if row["quantity"] == ""} == {"unsupported"}


def test_utf_16_is_read(tmp_path, capsys):
    source = tmp_path / "runs.csv"
    source.write_bytes(table(RAN.format(id="X1", batch=4, peak=26e9)).encode("utf-16"))
    assert main(["validate", str(source), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted"] == 1


def test_a_missing_file_is_a_sentence(capsys):
    assert main(["validate", "/nowhere/at/all.csv"]) == 2
    assert "file" in capsys.readouterr().err


def test_many_rows_take_seconds():
    rows = [RAN.format(id=f"X{n}", batch=1 + n % 7, peak=26e9) for n in range(500)]
    start = time.perf_counter()
    summary = summarise(outcomes_of(table(*rows)))
    assert summary.predicted == 500
    assert time.perf_counter() - start < 6  # 5,000 in a minute


def test_the_carried_tables_are_read_in_the_planners_own_columns():
    header = ",".join(read_rows("measured_inference.csv")[0])
    assert read_table(io.StringIO(header + "\n")).layout is Layout.INFERENCE
