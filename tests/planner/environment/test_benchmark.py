"""The measuring process for real on the processor; its ends; and the comparison with the catalogue."""

import json
import sys
import time
from unittest.mock import MagicMock

import pytest

from planner.commands.main import main
from planner.environment.benchmark import worker
from planner.environment.benchmark.compare import compare, processor_named
from planner.environment.benchmark.run import Result, Run, start
from planner.environment.benchmark.worker import best_seconds, numpy_tasks
from planner.hardware.attainable import attainable_flops
from planner.hardware.catalogue import resolve_reported
from planner.units import GIB


def result(**given: object) -> Result:
    plain = {"library": "torch 2", "device": "gpu0", "name": "NVIDIA H100 80GB HBM3", "memory": 85_000_000_000,
             "kind": "matmul", "dtype": "bf16", "size": 8192, "seconds": 1.0, "rate": 7e14}  # fmt: skip
    return Result(**{**plain, **given})  # type: ignore[arg-type]


def test_a_gpu_is_compared_with_what_its_kind_reaches() -> None:
    rows = compare([result(rate=3e14, size=2048), result(), result(kind="copy", dtype="", rate=1e12)])
    assert [row.best.kind for row in rows] == ["matmul", "copy"]
    assert rows[0].best.rate == 7e14
    card = resolve_reported("NVIDIA H100 80GB HBM3", 85_000_000_000)
    assert card is not None
    assert rows[0].known_as == card.name
    assert rows[0].expected == attainable_flops(card, "bf16").rate
    assert not rows[0].low
    assert rows[1].low


def test_what_the_catalogue_does_not_know_has_no_expectation() -> None:
    (row,) = compare([result(name="Some Card 9000")])
    assert (row.known_as, row.expected, row.peak, row.share, row.low) == ("", None, None, None, False)
    (link,) = compare([result(kind="upload-pinned", dtype="", rate=5e10)])
    assert link.expected is None


def test_processors_are_told_by_the_words_of_their_names() -> None:
    found = processor_named("AMD EPYC 9654 96-Core Processor")
    assert found is not None
    assert found.name == "AMD EPYC 9654"
    assert processor_named("Intel(R) Xeon(R) Platinum 8480+") is not None
    assert processor_named("AMD EPYC") is None


def test_repeats_are_counted_out_of_a_time() -> None:
    assert best_seconds(lambda: time.sleep(0.05), lambda: None) == pytest.approx(0.05, rel=0.3)


def test_numpy_measures_here() -> None:
    said: list[dict[str, object]] = []
    tasks = numpy_tasks(said.append)
    assert len(tasks) >= 4
    tasks[0](said.append)
    tasks[-1](said.append)
    assert [one["kind"] for one in said] == ["matmul", "copy"]
    assert all(1e8 < float(str(one["rate"])) < 1e14 for one in said)


def test_every_type_and_copy_is_measured_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LEAST_SECONDS", 1e-4)
    monkeypatch.setattr(worker, "free_memory", lambda: 64.0 * GIB)
    torch = MagicMock(__version__="2")
    torch.cuda.device_count.return_value = 2
    torch.cuda.get_device_properties.return_value = MagicMock(total_memory=80 * GIB)
    torch.cuda.get_device_properties.return_value.name = "NVIDIA H100 80GB HBM3"
    torch.cuda.mem_get_info.return_value = (40 * GIB, 80 * GIB)
    monkeypatch.setitem(sys.modules, "torch", torch)
    said: list[dict[str, object]] = []
    for task in worker.torch_tasks(said.append):
        task(said.append)
    first = [one for one in said if one["device"] == "gpu0"]
    assert len(said) == 2 * len(first)
    assert {one["dtype"] for one in first if one["kind"] == "matmul"} == {"fp32", "tf32", "fp16", "bf16"}
    assert {one["kind"] for one in first} == {"matmul", "copy", "upload", "upload-pinned"}
    assert torch.cuda.synchronize.called


def test_it_can_be_cancelled_and_keeps_what_it_has() -> None:
    running = start()
    deadline = time.monotonic() + 60
    while not running.results and time.monotonic() < deadline:
        time.sleep(0.1)
    assert 0 <= running.progress < 1
    running.cancel()
    running.wait(10)
    assert running.finished
    assert running.stopped == "cancelled"
    assert running.results
    assert running.missing.keys() <= {"torch", "cupy"}


def test_a_hanging_process_is_ended() -> None:
    running = Run([sys.executable, "-c", "import time; print('{}', flush=True); time.sleep(60)"], 0.5)
    running.wait(10)
    assert running.finished
    assert running.stopped == "timed-out"


def test_lines_that_are_none_of_ours_are_ignored() -> None:
    lines = [
        "noise",
        "[1, 2]",
        '{"event": "result", "rate": 1}',
        '{"event": "missing", "library": "torch", "reason": "x"}',
    ]
    running = Run([sys.executable, "-c", f"print({chr(10).join(lines)!r})"], 20)
    running.wait(20)
    assert running.results == ()
    assert running.missing == {"torch": "x"}
    assert running.progress == 1


def test_the_command_prints_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    main(["benchmark", "--json", "--seconds", "6"])
    printed = json.loads(capsys.readouterr().out)
    assert printed["compared"]
    assert printed["compared"][0]["device"] == "cpu"
    assert main(["benchmark", "--seconds", "0"]) == 2
