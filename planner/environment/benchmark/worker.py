"""The measuring process: matrix products and copies on what is there, one line of JSON for each result.

Runs by itself (it imports nothing of the planner), so that a hanging driver or a library that takes
long to import costs nothing but this process. It allocates an eighth of the free memory at most.
"""

import importlib
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

SIZES = {"cpu": (512, 1024, 2048), "gpu": (2048, 4096, 8192)}
"""Sides of the square matrices that are multiplied."""

COPIES = {"cpu": (2**26, 2**28), "gpu": (2**28, 2**30)}
"""Bytes that are copied: beyond any cache."""

SHARE_OF_MEMORY = 1 / 8
LEAST_SECONDS = 0.25
"""Repeated until this much time has passed: a clock tick or a wake-up is then no matter."""

LONGEST_SECONDS = 4.0
"""A larger size that would take longer than this is left out."""

Say = Callable[[dict[str, Any]], None]
Task = Callable[[Say], None]


def best_seconds(once: Callable[[], None], wait: Callable[[], None]) -> float:
    """Mean seconds of one call over the fastest of three rounds, each of `LEAST_SECONDS` or one call."""
    once()
    wait()
    best, repeats = float("inf"), 1
    for _ in range(3):
        while True:
            start = time.perf_counter()
            for _ in range(repeats):
                once()
            wait()
            took = time.perf_counter() - start
            if took >= LEAST_SECONDS or repeats >= 1 << 20:
                break
            repeats = max(repeats * 2, int(repeats * LEAST_SECONDS / max(took, 1e-6)))
        best = min(best, took / repeats)
        if took > LONGEST_SECONDS:
            break
    return best


def main() -> int:
    """Say what is measured with what, how many measurements there are, and each result."""

    def say(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)

    tasks: list[Task] = []
    for library, tasks_of in (("torch", torch_tasks), ("cupy", cupy_tasks), ("numpy", numpy_tasks)):
        if importlib.util.find_spec(library) is None:
            say({"event": "missing", "library": library, "reason": "not-installed"})
            continue
        try:
            tasks += tasks_of(say)
        except Exception as error:  # a broken installation must not hide the other libraries' results
            say({"event": "missing", "library": library, "reason": f"{type(error).__name__}: {error}"[:300]})
    say({"event": "planned", "count": len(tasks)})
    for task in tasks:
        try:
            task(say)
        except Exception as error:
            say({"event": "failed", "reason": f"{type(error).__name__}: {error}"[:300]})
        say({"event": "done"})
    return 0


def product(about: dict[str, Any], dtype: str, size: int, once: Callable[[], None], wait: Callable[[], None]) -> Any:
    """The line of a matrix product: 2 n^3 operations."""
    seconds = best_seconds(once, wait)
    return {"event": "result", **about, "kind": "matmul", "dtype": dtype, "size": size, "seconds": seconds,
            "rate": 2.0 * size**3 / seconds}  # fmt: skip


def moved(about: dict[str, Any], kind: str, size: int, factor: int, once: Callable[[], None],
          wait: Callable[[], None]) -> Any:  # fmt: skip
    """The line of a copy. In one memory it reads and writes (`factor` 2); over a link it crosses once."""
    seconds = best_seconds(once, wait)
    return {"event": "result", **about, "kind": kind, "dtype": "", "size": size, "seconds": seconds,
            "rate": factor * size / seconds}  # fmt: skip


def fitting(sizes: tuple[int, ...], free: float, needed: Callable[[int], float]) -> Iterator[int]:
    """The sizes that stay within the share of memory."""
    return (size for size in sizes if needed(size) <= free * SHARE_OF_MEMORY)


def processor() -> str:
    """The processor's own name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.lower().startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def free_memory() -> float:
    """Bytes of main memory that are free; 4 GiB where the system does not say."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 4.0 * 2**30


def numpy_tasks(say: Say) -> list[Task]:
    """On the processor, by the linear algebra that NumPy was built with."""
    import numpy as np

    about = {"library": f"numpy {np.__version__}", "device": "cpu", "name": processor(), "memory": 0}
    free = free_memory()

    def multiply(dtype: str, size: int) -> Task:
        def task(say: Say) -> None:
            random = np.random.default_rng(0)
            a, b = (random.random((size, size)).astype(dtype) for _ in range(2))
            out = np.empty_like(a)
            short = {"float32": "fp32", "float64": "fp64"}[dtype]
            say(product(about, short, size, lambda: _run(lambda: np.matmul(a, b, out=out)), lambda: None))

        return task

    def copy(size: int) -> Task:
        def task(say: Say) -> None:
            a = np.zeros(size // 8)
            b = np.ones_like(a)
            say(moved(about, "copy", size, 2, lambda: np.copyto(a, b), lambda: None))

        return task

    sizes = list(fitting(SIZES["cpu"], free, lambda n: 24.0 * n * n))
    products = [multiply(dtype, size) for dtype in ("float32", "float64") for size in sizes]
    return products + [copy(size) for size in fitting(COPIES["cpu"], free, lambda n: 2.0 * n)]


def torch_tasks(say: Say) -> list[Task]:
    """On each GPU that PyTorch sees; on the processor where it sees none."""
    torch = importlib.import_module("torch")

    tasks: list[Task] = []
    for place in range(torch.cuda.device_count()):
        tasks += _torch_gpu(torch, place)
    if not tasks:
        say({"event": "missing", "library": "torch", "reason": "no-gpu"})
        tasks = _torch_cpu(torch)
    return tasks


def _torch_cpu(torch: Any) -> list[Task]:
    about = {"library": f"torch {torch.__version__}", "device": "cpu", "name": processor(), "memory": 0}

    def multiply(dtype: str, size: int) -> Task:
        def task(say: Say) -> None:
            kind = {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype]
            a, b = (torch.rand(size, size).to(kind) for _ in range(2))
            say(product(about, dtype, size, lambda: _run(torch.mm, a, b), lambda: None))

        return task

    return [multiply(dtype, size) for dtype in ("fp32", "bf16") for size in SIZES["cpu"]]


def _run(function: Any, *arguments: Any) -> None:
    function(*arguments)


def _torch_gpu(torch: Any, place: int) -> list[Task]:
    device = torch.device("cuda", place)
    facts = torch.cuda.get_device_properties(device)
    about = {"library": f"torch {torch.__version__}", "device": f"gpu{place}", "name": facts.name,
             "memory": facts.total_memory}  # fmt: skip
    free = float(torch.cuda.mem_get_info(device)[0])

    def wait() -> None:
        torch.cuda.synchronize(device)

    def multiply(dtype: str, size: int) -> Task:
        def task(say: Say) -> None:
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
            kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(dtype, torch.float32)
            a, b = (torch.rand(size, size, device=device).to(kind) for _ in range(2))
            out = torch.empty_like(a)
            say(product(about, dtype, size, lambda: _run(lambda: torch.mm(a, b, out=out)), wait))

        return task

    def copy(size: int) -> Task:
        def task(say: Say) -> None:
            a, b = (torch.zeros(size // 4, device=device) for _ in range(2))
            say(moved(about, "copy", size, 2, lambda: _run(b.copy_, a), wait))

        return task

    def upload(size: int, pinned: bool) -> Task:
        def task(say: Say) -> None:
            a, b = torch.zeros(size // 4, pin_memory=pinned), torch.empty(size // 4, device=device)
            kind = "upload-pinned" if pinned else "upload"
            say(moved(about, kind, size, 1, lambda: _run(lambda: b.copy_(a, non_blocking=pinned)), wait))

        return task

    sizes = list(fitting(SIZES["gpu"], free, lambda n: 12.0 * n * n))
    tasks = [multiply(dtype, size) for dtype in ("fp32", "tf32", "fp16", "bf16") for size in sizes]
    tasks += [copy(size) for size in fitting(COPIES["gpu"], free, lambda n: 2.0 * n)]
    smallest = fitting(COPIES["gpu"][:1], min(free, free_memory()), lambda n: 2.0 * n)
    return tasks + [upload(size, pinned) for size in smallest for pinned in (False, True)]


def cupy_tasks(say: Say) -> list[Task]:
    """On each GPU by CuPy, where PyTorch is not there to do it."""
    cupy = importlib.import_module("cupy")

    if importlib.util.find_spec("torch") is not None:
        return []
    tasks: list[Task] = []
    for place in range(cupy.cuda.runtime.getDeviceCount()):
        tasks += _cupy_gpu(cupy, place)
    return tasks


def _cupy_gpu(cupy: Any, place: int) -> list[Task]:
    facts = cupy.cuda.runtime.getDeviceProperties(place)
    name = facts["name"].decode(errors="replace") if isinstance(facts["name"], bytes) else str(facts["name"])
    about = {"library": f"cupy {cupy.__version__}", "device": f"gpu{place}", "name": name,
             "memory": int(facts["totalGlobalMem"])}  # fmt: skip

    def wait() -> None:
        cupy.cuda.Device(place).synchronize()

    def multiply(dtype: str, size: int) -> Task:
        def task(say: Say) -> None:
            with cupy.cuda.Device(place):
                a, b = (cupy.random.random((size, size)).astype(dtype) for _ in range(2))
                short = {"float32": "fp32", "float16": "fp16"}[dtype]
                say(product(about, short, size, lambda: _run(cupy.matmul, a, b), wait))

        return task

    def copy(size: int) -> Task:
        def task(say: Say) -> None:
            with cupy.cuda.Device(place):
                a, b = (cupy.zeros(size // 4, dtype="float32") for _ in range(2))
                say(moved(about, "copy", size, 2, lambda: cupy.copyto(b, a), wait))

        return task

    return [multiply(d, s) for d in ("float32", "float16") for s in SIZES["gpu"]] + [copy(s) for s in COPIES["gpu"]]


if __name__ == "__main__":
    sys.exit(main())
