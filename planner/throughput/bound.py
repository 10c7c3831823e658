"""What bounds a run: the cause that takes most of its time; or its input, wherever the GPU has to wait for it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from planner.numeric import Number, is_array
from planner.result import Bound, Term

CAUSES = {
    "time.compute": Bound.COMPUTE,
    "time.attention": Bound.COMPUTE,
    "time.recompute": Bound.COMPUTE,
    "time.elementwise": Bound.MEMORY_BANDWIDTH,
    "time.optimizer": Bound.MEMORY_BANDWIDTH,
    "time.memory": Bound.MEMORY_BANDWIDTH,
    "time.communication": Bound.NETWORK,
    "time.bubble": Bound.BUBBLE,
    "time.input": Bound.INPUT,
    "time.launch": Bound.LAUNCH,
}


def bound_of(parts: Iterable[Term]) -> Any:
    """The bound: one, or an array of them where the parts are arrays.

    Work hides behind the input and not the other way round: as soon as the GPU waits, nothing but the input sets the
    rate, however short the wait.
    """
    sums: dict[Bound, Number] = {}
    for part in parts:
        cause = CAUSES[part.id]
        sums[cause] = sums.get(cause, 0.0) + part.value
    waits = sums.pop(Bound.INPUT, 0.0)
    if not is_array(waits, *sums.values()):
        return Bound.INPUT if waits > 0 else max(sums, key=lambda cause: sums[cause])
    causes = np.array([*sums, Bound.INPUT], dtype=object)
    *others, waiting = np.broadcast_arrays(*sums.values(), waits)
    return causes[np.where(waiting > 0, len(others), np.argmax(np.stack(others), axis=0))]
