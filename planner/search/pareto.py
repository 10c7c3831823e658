"""The frontier: layouts that no other beats in rate, memory to spare and GPUs used at once. Cost follows from these.

Money per unit of work is price x GPUs / rate, so a layout that is beaten in none of the three is beaten in cost by
none that it does not beat elsewhere.
"""

import numpy as np

from planner.search.enumerate import Array

_BINS_PER_OCTAVE_BITS = 5
_SHIFT = 23 - _BINS_PER_OCTAVE_BITS


def frontier(rate: Array, spare: Array, gpus: Array) -> Array:
    """Indices of the layouts on the frontier, fastest first; of equals the first."""
    order = np.lexsort((-spare, gpus, -rate))
    kept: list[int] = []
    best: dict[int, float] = {}  # most spare memory so far, by GPUs
    for index in order:
        count, room = int(gpus[index]), float(spare[index])
        if all(room > most for used, most in best.items() if used <= count):
            kept.append(int(index))
            best[count] = max(room, best.get(count, -np.inf))
    return np.array(kept, dtype=np.int64)


class Sieve:
    """Lets through what may be on the frontier, by a table of rates in bins: a cell's own bin never counts.

    Bins are steps of the logarithm: the leading bits of a 32-bit float, which order as the floats do.
    """

    def __init__(self, gpus: Array) -> None:
        self._counts = np.sort(gpus)
        self._most = np.full((len(gpus), 1 << (31 - _SHIFT)), -np.inf)

    def places(self, gpus: Array) -> Array:
        """Rows of the table for numbers of GPUs."""
        return np.searchsorted(self._counts, gpus)

    def passing(self, rate: Array, spare: Array, gpus: Array) -> Array:
        """Indices that nothing seen so far beats; they are then seen, too."""
        bins = rate.astype(np.float32).view(np.int32) >> _SHIFT
        places = self.places(gpus)
        passed = np.flatnonzero(spare > self._most[places, bins])
        if len(passed):
            np.maximum.at(self._most, (places[passed], np.maximum(bins[passed] - 1, 0)), spare[passed])
            backwards = self._most[:, ::-1]
            np.maximum.accumulate(backwards, axis=1, out=backwards)
            np.maximum.accumulate(self._most, axis=0, out=self._most)
        return passed
