"""What bounds a run: the cause that takes most of its time."""

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
    """The bound: one, or an array of them where the parts are arrays."""
    sums: dict[Bound, Number] = {}
    for part in parts:
        cause = CAUSES[part.id]
        sums[cause] = sums.get(cause, 0.0) + part.value
    if not is_array(*sums.values()):
        return max(sums, key=lambda cause: sums[cause])
    causes = np.array(list(sums), dtype=object)
    return causes[np.argmax(np.stack(np.broadcast_arrays(*sums.values())), axis=0)]
