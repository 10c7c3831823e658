"""Pipeline parallelism: the largest stage, and the time stages wait while the pipeline fills and drains."""

from planner.numeric import Number, ceil_div
from planner.parallel import Layout


def stage_share(depth: int, pipeline_parallel: Number) -> Number:
    """Share of the layers that the fullest stage holds: ceil(L / p) / L."""
    return ceil_div(depth, pipeline_parallel) / depth


def bubble_micro_batches(layout: Layout) -> Number:
    """Idle time of a step, in micro-batches: (p - 1) / v.

    1F1B and GPipe wait (p - 1) micro-batches; the interleaved schedule with v chunks a rank waits a v-th of that.
    Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2.
    """
    return (layout.pipeline_parallel - 1) / layout.chunks
