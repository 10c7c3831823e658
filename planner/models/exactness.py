"""How exact the parameter counts are: every catalogue model, computed from its configuration, against its reference.

Run `python -m planner.models.exactness` for the summary and the misses.
"""

import sys
from dataclasses import dataclass

from planner.models.catalogue import Entry, entries, specify
from planner.result import InputError

EXACT = 1e-4
"""Relative difference under which a count is called exact."""


@dataclass(frozen=True, slots=True)
class Check:
    """One model's counts against its references."""

    entry: Entry
    computed: int | None  # None: the configuration could not be built
    active: int | None
    problem: str = ""

    @property
    def difference(self) -> float:
        """Relative difference from the reference count; infinite where nothing could be built."""
        return float("inf") if self.computed is None else self.computed / self.entry.parameters - 1

    @property
    def active_difference(self) -> float:
        """Relative difference from the reference count of active parameters; 0 where there is none."""
        if self.active is None or self.entry.active_parameters is None:
            return 0.0
        return self.active / self.entry.active_parameters - 1

    @property
    def exact(self) -> bool:
        return abs(self.difference) <= EXACT


def check(entry: Entry) -> Check:
    """Compute one model's counts."""
    try:
        spec = specify(entry)
    except InputError as error:
        return Check(entry, None, None, str(error))
    return Check(entry, spec.computed_parameters, spec.active_parameters)


def checks() -> tuple[Check, ...]:
    """Every published architecture's check, in the catalogue's order."""
    return tuple(check(entry) for entry in entries())


def main() -> int:
    """Print the summary and each model that is not exact."""
    results = checks()
    built = [result for result in results if result.entry.parameters_from == "transformers"]
    print(f"{len(results)} models, {len(built)} with a built reference")
    print(f"within 0.01 %: {sum(result.exact for result in built)} of those with a built reference")
    print(f"within 2 %: {sum(abs(result.difference) <= 0.02 for result in results)} of all")
    print(f"active within 0.5 %: {sum(abs(result.active_difference) <= 0.005 for result in results)} of all")
    print("\ndifference   active  task        from          id")
    for result in results:
        if not result.exact or abs(result.active_difference) > 0.005:
            entry = result.entry
            print(
                f"{result.difference:+10.4%} {result.active_difference:+8.3%}  {entry.task:<11} "
                f"{entry.parameters_from:<13} {entry.id} {result.problem[:80]}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
