"""The search: layouts a second on one core, its memory, and where layouts that others published stand among all."""

import dataclasses
import time
import tracemalloc
from collections import defaultdict

from planner.estimate import estimate
from planner.hardware.catalogue import read_rows
from planner.parallel import Offload, Sharding
from planner.plan.plan import resolve
from planner.search.search import search, search_request
from planner.search.space import Space, space_of
from planner.validation.case import Quantity
from planner.validation.run import table_outcomes
from planner.validation.tables import table_of
from planner.workload import Recompute

TARGET = 1_000_000
MODELS = (("meta-llama/Llama-3.1-8B", 1536), ("meta-llama/Llama-3.1-70B", 1024), ("deepseek-ai/DeepSeek-V3", 2048))
PUBLISHED = ("nvidia-nemo/megatron-bridge", "nvidia/nemo", "nvidia/megatron-lm", "mosaicml/", "calculon-ai/")
TOP = 0.05


def plan_for(model: str, gpus: int):
    """Pre-training on H100s."""
    return resolve(
        {
            "task": "train",
            "model": model,
            "gpu": "h100-sxm5-80gb",
            "gpus": gpus,
            "precision": "bf16-master",
            "sequence_length": 8192,
        }
    )


def speed() -> None:
    """Layouts a second of processor time, memory and time of each, everything that the search keeps included."""
    for model, batch in MODELS:
        plan = plan_for(model, 1024)
        space = space_of(plan, global_batch_size=batch, fewer_gpus=False)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            found = search(plan, space)
            best = min(best, time.process_time() - start)
        print(
            f"  1,024 GPUs {plan.spec.name:<16} {found.legal:>10,} layouts in {best:5.2f} s: "
            f"{found.legal / best:>10,.0f} a second (target {TARGET:,})"
        )


def memory() -> None:
    """Peak of what the largest search allocates."""
    plan = plan_for("meta-llama/Llama-3.1-70B", 16_384)
    space = space_of(plan, global_batch_size=16_384, offload=False)
    tracemalloc.start()
    found = search(plan, space)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"  16,384 GPUs {found.legal:,} layouts: peak {peak / 2**20:,.0f} MiB (target < 1,024)")


def around(request) -> Space:
    """Every layout of a measured run's cluster, batch and precision, as the search has them."""
    layout = request.layout
    return Space(
        gpus=(int(layout.gpus),),
        global_batch_size=int(request.global_batch_size),
        shardings=(Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, Sharding.FSDP, Sharding.HSDP),
        recomputes=tuple(Recompute),
        offloads=((Offload.NONE, Offload.NONE),),
        precisions=(request.precision,),
    )


def fastest_runs():
    """Of each source, model, GPU, cluster and length the fastest published run: its authors' best."""
    runs = {}
    for outcome in table_outcomes(table_of(read_rows("measured_training.csv"))):
        case = outcome.case
        rate = case and case.measured.get(Quantity.TOKENS_RATE)
        if not rate or not case.source.lower().startswith(PUBLISHED) or case.request.layout.gpus < 4:
            continue
        request = case.request
        key = (case.source, case.model, case.gpu, int(request.layout.gpus), request.sequence_length, request.precision)
        if key not in runs or rate > runs[key][0]:
            runs[key] = (rate, case)
    return [case for _, case in runs.values()]


def published() -> None:
    """The share of published runs whose layout ranks in the top of all legal ones of its cluster, by our speed.

    Told twice: among all legal layouts (those that do not fit are behind), and among those that fit alone. A run that
    does not fit by our estimate ran all the same; it is ranked by its speed, and counted.
    """
    shares = defaultdict(list)
    for case in fastest_runs():
        result = estimate(case.request)
        if result.speed is None:
            continue
        found = search_request(dataclasses.replace(case.request, recompute_every=1), around(case.request))
        among = found.share_slower(result.speed.rate)
        legal = (found.legal - found.fits + among * found.fits) / max(1, found.legal)
        shares[case.source].append((legal >= 1 - TOP, among >= 1 - TOP, bool(result.fits)))
    for source, some in [*shares.items(), ("all", [one for each in shares.values() for one in each])]:
        legal, among, fits = (sum(column) for column in zip(*some, strict=True))
        print(
            f"  {source[:30]:<30} {len(some):>3} runs: {legal} in the top {TOP:.0%} of legal layouts, "
            f"{among} in the top {TOP:.0%} of those that fit; {fits} fit by our estimate"
        )


def main() -> None:
    """Print every figure with its target."""
    speed()
    memory()
    published()


if __name__ == "__main__":
    main()
