"""Prints how far training memory is from traced and measured values, and how long an estimate takes.

Run from the repository's root: `python tests/benchmarks/memory_accuracy.py`.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from planner.hardware.types import Cluster
from planner.memory.training import training_memory
from planner.parallel import Layout, Sharding
from planner.workload import Recompute, Training, TrainingPrecision
from tests.planner.memory.fms import A100, runs
from tests.planner.memory.reference_models import reference_model
from tests.planner.memory.test_saved_activations import layer_bytes
from tests.planner.memory.traced import peak_cells, saved_cells


def report(title: str, errors: Sequence[tuple[float, str]], worst: int = 5) -> None:
    """Median, 90th percentile and the worst of signed relative errors."""
    sizes = sorted(abs(error) for error, _ in errors)
    median, high = statistics.median(sizes), sizes[int(0.9 * (len(sizes) - 1))]
    print(f"{title}: {len(sizes)} values, median {median:.2%}, 90 % within {high:.2%}, worst {sizes[-1]:.2%}")
    for error, label in sorted(errors, key=lambda each: -abs(each[0]))[:worst]:
        print(f"    {error:+8.2%}  {label}")


def accuracy() -> None:
    """All comparisons."""
    report("saved per layer", [(layer_bytes(cell.request) / cell.bytes - 1, cell.label) for cell in saved_cells()])
    report(
        "traced peak", [(training_memory(cell.request).allocated / cell.peak - 1, cell.label) for cell in peak_cells()]
    )
    measured = [(run, training_memory(run.request)) for run in runs()]
    for kind in ("full", "lora", "qlora"):
        own = [(run, found) for run, found in measured if run.allocated and run.request.method.kind == kind]
        report(
            f"A100 {kind}, allocated", [(found.allocated / (run.allocated or 1) - 1, run.id) for run, found in own], 3
        )
    ran = [(run, found) for run, found in measured if run.allocated]
    report("A100, allocated", [(found.allocated / (run.allocated or 1) - 1, run.id) for run, found in ran])
    report("A100, device", [(found.device / run.device - 1, run.id) for run, found in ran])
    wrong = [run.id for run, found in measured if run.ran != (found.spare >= 0)]
    print(f"fits or not: {len(measured) - len(wrong)} of {len(measured)} right; wrong: {', '.join(wrong) or 'none'}")


def speed() -> None:
    """Microseconds of one estimate, seconds of 100,000 layouts."""
    request = Training(model=reference_model("llama-3.1-8b"), cluster=Cluster(gpu=A100))
    training_memory(request)
    start = time.perf_counter()
    for _ in range(1000):
        training_memory(request)
    print(f"one estimate: {(time.perf_counter() - start) * 1000:.0f} us")
    size, random = 100_000, np.random.default_rng(0)
    degrees = [2 ** random.integers(0, 4, size) for _ in range(4)]
    layout = Layout(
        data_parallel=degrees[0],
        tensor_parallel=degrees[1],
        pipeline_parallel=degrees[2],
        context_parallel=degrees[3],
        sharding=Sharding.ZERO1,
    )
    many = Training(
        model=reference_model("mixtral-8x7b"),
        cluster=Cluster(gpu=A100),
        layout=layout,
        precision=TrainingPrecision.BF16_MASTER,
        recompute=Recompute.FULL,
    )
    start = time.perf_counter()
    _ = training_memory(many).device
    print(f"{size} layouts: {time.perf_counter() - start:.3f} s")


if __name__ == "__main__":
    accuracy()
    speed()
