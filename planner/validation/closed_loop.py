"""What a benchmark client sees of a server: requests that wait for room in the cache, and the rush at the start.

Load generators start all clients at once and let each ask again when answered. A cache that holds fewer sequences than
there are clients makes the others wait in a queue; Little's law gives how long (Little 1961).
"""

import dataclasses
from dataclasses import dataclass

from planner.estimate import estimate
from planner.memory.serving import kv_capacity_tokens
from planner.result import Estimate
from planner.workload import Serving

PROMPTS_PER_CLIENT = 10
"""Requests that each client sends in a run: the usual ratio of the public serving benchmarks (InferenceMAX, vLLM's
serving benchmark scripts). The first of them meets the prompts of all other clients."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Means over a run, in seconds, and output tokens per second of all clients."""

    first_token: float
    per_token: float
    output_rate: float


def seen_by_clients(request: Serving, result: Estimate) -> Seen | None:
    """What `concurrency` clients measure; None where the speed is unknown."""
    clients = float(request.concurrency)
    room = float(kv_capacity_tokens(request)) / max(1.0, float(request.context)) * float(request.layout.data_parallel)
    served = max(1.0, min(clients, room))
    if served < clients:
        result = estimate(dataclasses.replace(request, concurrency=served))
    speed = result.speed
    if speed is None or speed.time_to_first_token is None or speed.time_per_output_token is None:
        return None
    outputs = float(request.output_tokens)
    first, per_token = float(speed.time_to_first_token), float(speed.time_per_output_token)
    service = first + max(0.0, outputs - 1) * per_token
    waiting = (clients / served - 1) * service
    rush = served * float(request.input_tokens) / float(speed.prefill_tokens_per_second or 1) / 2
    first += waiting + rush / PROMPTS_PER_CLIENT
    return Seen(first, per_token, served * outputs / service)
