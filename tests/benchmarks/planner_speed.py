"""Speed of the planner: one plan, many plans at once, and its import."""

import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from planner.advice.advise import advise
from planner.estimate import estimate
from planner.plan.plan import resolve
from planner.plan.presets import PRESETS
from planner.plan.request import request_of
from planner.workload import Training

COUNT = 8192
ROOT = Path(__file__).parents[2]


def seconds(call: Callable[[], object], repeat: int = 20, rounds: int = 7) -> float:
    """Seconds of one call: the best of several rounds, so that other work on the machine counts least."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def many(request, count: int):
    """The request with `count` different batches and lengths at once."""
    batches = np.tile(np.arange(1.0, 65.0), count // 64 + 1)[:count]
    if isinstance(request, Training):
        return dataclasses.replace(request, micro_batch_size=batches)
    return dataclasses.replace(request, concurrency=batches)


def main() -> None:
    """Print every figure with its target."""
    print("one plan, and many at once")
    for id, chosen in PRESETS.items():
        plan = resolve(chosen)
        request = request_of(plan)
        result = estimate(request)
        one = seconds(lambda request=request: estimate(request))
        rate = COUNT / seconds(lambda request=request: estimate(many(request, COUNT)), repeat=3)
        advice = seconds(lambda plan=plan, result=result: advise(plan, result), repeat=1)
        print(
            f"  {id:<14} estimate {one * 1e3:6.3f} ms (target < 1)   {rate:12,.0f} plans/s (target > 200,000)"
            f"   advice {advice * 1e3:5.1f} ms"
        )
    code = "import time; t = time.perf_counter(); import planner.estimate; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT)) for _ in range(5)]
    print(f"import of planner.estimate: {min(times):.3f} s (target < 0.3)")


if __name__ == "__main__":
    main()
