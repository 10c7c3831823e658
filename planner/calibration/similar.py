"""The measured rows most like a plan: what "how accurate is this?" points to."""

from planner.calibration.families import Family, kinds
from planner.calibration.residuals import Residual, architectures, residuals
from planner.workload import Request


def similar(request: Request, family: Family, most: int = 5) -> tuple[Residual, ...]:
    """Up to `most` comparisons of a family, the most alike first: kind, then model, card, its generation, its number.

    Rows of other tasks are never returned. Among equals the better documented and the newer come first.
    """
    asked = kinds(request)
    gpu, known = request.cluster.gpu, architectures()

    def likeness(row: Residual) -> tuple[int, bool, bool, bool, bool, bool, str]:
        return (
            sum(kind in row.kinds for kind in asked),
            row.model == request.model.name,
            row.gpu == gpu.id,
            known.get(row.gpu) == gpu.architecture,
            row.gpus == request.layout.gpus,
            row.quality == "A",
            row.date,
        )

    found = [
        row for row in residuals() if row.family == family and row.quality != "C" and set(row.kinds) & set(asked[:-1])
    ]
    return tuple(sorted(found, key=likeness, reverse=True)[:most])
