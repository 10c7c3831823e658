"""One request in, one result out: the only door to the formulas.

The same call answers a single plan and, where fields of the request are arrays, a sweep of any size.
"""

from planner.cost import cost
from planner.coverage import unchecked
from planner.memory.serving import serving_memory
from planner.memory.training import training_memory
from planner.models.spec import ModelTask
from planner.numeric import is_array
from planner.result import Estimate, Memory, Notice, Severity, Speed, Status, worst
from planner.throughput.serving import serving_speed
from planner.throughput.training import training_speed
from planner.workload import Request, Training


def estimate(request: Request, *, memory: Memory | None = None) -> Estimate:
    """Memory of the fullest GPU, time, and cost of a request. `memory` is `memory_of(request)` where it is known.

    The request must be possible (`planner.plan.checks`); nothing is raised for a plan that does not fit. Arrays in the
    request broadcast: then every figure of the result is an array.
    """
    memory = memory or memory_of(request)
    speed, notices = _speed(request)
    # "Measured" is for what was itself measured; figures made of measured rates are interpolated.
    statuses = [Status.INTERPOLATED, *([speed.status] if speed else [])]
    if request.model.recorded_parameters is not None or request.model.assumed or speed is None:
        statuses.append(Status.EXTRAPOLATED)
    if not is_array(memory.required):
        unknown = unchecked(request)
        notices = (*notices, *_length_notices(request))
        if unknown:
            statuses.append(Status.EXTRAPOLATED)
            notices = (*notices, Notice("unchecked", Severity.INFO, {"parts": list(unknown)}))
    return Estimate(
        memory=memory,
        speed=speed,
        cost=cost(request, speed),
        status=worst(statuses),
        notices=(*notices, *_notices(request, memory)),
    )


def memory_of(request: Request) -> Memory:
    """Memory of the fullest GPU alone, as `estimate` has it."""
    return training_memory(request) if isinstance(request, Training) else serving_memory(request)


def speed_of(request: Request) -> Speed | None:
    """Time alone, as `estimate` has it; None where it cannot be told."""
    if request.model.task is ModelTask.DIFFUSION:
        return None
    return training_speed(request) if isinstance(request, Training) else serving_speed(request)


def _speed(request: Request) -> tuple[Speed | None, tuple[Notice, ...]]:
    """The speed, or why it cannot be told: an unknown peak or bandwidth is refused, never guessed."""
    if request.model.task is ModelTask.DIFFUSION:
        return None, (Notice("speed-unknown-diffusion", Severity.WARNING),)
    speed = speed_of(request)
    if speed is None:
        gpu = request.cluster.gpu.name
        return None, (Notice("speed-unknown-gpu", Severity.WARNING, {"gpu": gpu}),)
    return speed, ()


def _length_notices(request: Request) -> tuple[Notice, ...]:
    """Sequences beyond what the model was trained for: they run, and what comes out is another matter."""
    longest = request.model.max_positions
    length = request.sequence_length if isinstance(request, Training) else request.context
    if longest is None or request.model.image is not None or length <= longest:
        return ()
    return (Notice("longer-than-trained", Severity.WARNING, {"length": int(length), "positions": longest}),)


def _notices(request: Request, memory: Memory) -> tuple[Notice, ...]:
    """What the reader should know about the model and the card, apart from the figures."""
    model, gpu = request.model, request.cluster.gpu
    found = []
    if model.recorded_parameters is not None:
        found.append(Notice("recorded-parameters", Severity.WARNING, {"parameters": model.recorded_parameters}))
    if model.components:
        found.append(Notice("weights-only", Severity.WARNING))
    if model.assumed:
        found.append(Notice("assumed-architecture", Severity.WARNING, {"assumed": list(model.assumed)}))
    if not gpu.memory_is_reported:
        found.append(Notice("memory-not-reported", Severity.INFO, {"gpu": gpu.name}))
    if gpu.unified_memory:
        found.append(Notice("unified-memory", Severity.INFO, {"gpu": gpu.name}))
    return tuple(found)
