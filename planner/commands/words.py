"""English sentences of the command line for the planner's codes. The pages have their own, in every language."""

from typing import Any

from planner.result import Notice, Problem

_PROBLEMS = {
    "missing-key": "{field} is missing; accepted names: {accepted}",
    "not-an-integer": "{field} must be a whole number from {low:,} to {high:,}, not {value!r}",
    "not-a-number": "{field} must be a number from {low:,} to {high:,}, not {value!r}",
    "out-of-range": "{field} must be from {low:,} to {high:,}, not {value:,}",
    "not-a-choice": "{field} cannot be {value!r}; choose one of: {choices}",
    "not-a-flag": "{field} must be true or false, not {value!r}",
    "unknown-field": "there is no input named {field!r}",
    "unknown-model": "no model is called {value!r}; nearest: {nearest}",
    "unknown-gpu": "no GPU is called {value!r}; nearest: {nearest}",
    "unknown-grid": "no electricity grid is called {value!r}; nearest: {nearest}",
    "missing-value": "{field} is missing",
    "not-owned-cards": "{field}: {value!r} is not of the form GPU:number:price",
    "ambiguous-gpu": "{value!r} could be any of: {nearest}",
    "gpus-not-a-multiple": "{field} {value}: {gpus} GPUs are not a multiple of the degrees' product, {product}",
    "not-dividing-heads": "{field} {value} does not divide the model's {heads} attention heads; possible: {allowed}",
    "not-dividing-kv-heads": "{field} {value} fits no whole number of the model's {kv_heads} key/value heads",
    "heads-not-shared": "{field} {value} does not divide the {heads} attention heads",
    "not-a-scenario": "{field}: this is no capacity scenario",
    "not-a-date": "{field}: {value!r} is no date; write it as 2026-12-31",
    "name-taken": "{field}: {value!r} is the name of an earlier row",
    "no-nvlink": "{field}: {gpu} has no NVLink",
    "more-stages-than-layers": "{field} {value} x {chunks} chunks needs as many layers; the model has {layers}",
    "not-dividing-experts": "{field} {value} does not divide the model's {experts} experts",
    "not-dividing-group": "{field} {value} does not divide its group of {group} GPUs",
    "not-dividing-sequence": "{field} {value}: sequence_length {sequence_length} is not a multiple of twice that",
    "not-dividing-ranks": "{field} {value} does not divide the {ranks} data-parallel ranks",
    "longer-than-positions": "{field} {value:,} is longer than the model's table of {positions:,} positions",
    "not-solvable": "{field} cannot be solved for in this plan; choose one of: {choices}",
    "unknown-framework": "{field} {value!r} is not known; choose one of: {known}",
    "framework-not-for-plan": "{value} cannot run this plan; able: {able}",
    "text-too-long": "the text is too long or too large to read",
    "nothing-pasted": "the text is empty",
    "not-recognised": "nothing in the text is recognised; known: {known}",
    "not-yaml": "this is not valid YAML: {reason}",
    "not-toml": "this is not valid TOML: {reason}",
    "not-python": "this is not valid Python: {reason}",
    "not-a-command": "this is not a valid command line: {reason}",
    "not-a-configuration": "there are no options in this text",
    "no-memory-in-log": "the text says nothing about GPU memory",
    "empty": "{field}: nothing was given",
    "too-long": "{field}: {length:,} characters are too many for a name (at most {limit})",
    "unknown-cpu": "no CPU is called {value!r}; known: {known}",
    "format-not-in-engine": "{field}: {engine} does not read {value!r}; it reads {choices}",
    "longer-than-limit": "{field} {value:,} is less than input and output together, {asked:,} tokens",
    "diffusion-serve-only": "{field} {value!r}: diffusion pipelines can only be served here",
    "method-needs-layers": "{field} {value!r} needs a model that is described layer by layer; image networks are not",
    "too-deep": "{field}: nested more than {limit} levels deep",
    "too-large": "{field}: larger than {limit:,} bytes",
    "not-a-notebook": "{field}: this is not a Jupyter notebook ({reason})",
    "not-json": "{field}: not JSON ({value}, line {line}, column {column})",
    "not-an-object": "{field}: a JSON object is needed, not {value}",
    "store-unreachable": "what is saved cannot be read or written ({reason}); see `python -m planner store path`",
    "store-from-future": "what is saved was written by a newer version of this program; update it",
    "not-an-archive": "{field}: not a file of saved plans",
    "archive-from-future": "{field}: version {value} was written by a newer version of this program (known: {known})",
    "cannot-read-file": "{value}: {reason}",
    "precision-not-on-gpu": "{field} {value}: {gpu} has no {dtype} arithmetic",
}


_NOTICES = {
    "speed-unknown-diffusion": "speed is not estimated for diffusion models",
    "speed-unknown-gpu": "the speed of {gpu} is not known: a peak or bandwidth is missing",
    "recorded-parameters": "the published count of {parameters:,} parameters is used",
    "assumed-architecture": "the architecture is unknown; assumed: {assumed}",
    "memory-not-reported": "the usable memory of {gpu} follows from its marketed size, not from a driver's report",
    "unified-memory": "{gpu} shares its memory with the host",
    "weights-only": "only the weights are counted; activations of denoising and decoding come on top",
    "longer-than-trained": "{length:,} tokens are more than the {positions:,} that the model was made for",
    "unchecked": "never checked against a measurement: {parts}",
}


def notice_line(notice: Notice) -> str:
    """One notice as a line."""
    values = {k: ", ".join(map(str, v)) if isinstance(v, list | tuple) else v for k, v in notice.parameters.items()}
    return _NOTICES.get(notice.code, notice.code).format(**values)


def _readable(value: Any) -> Any:
    """A number that somebody can read: 1e+99, not a hundred digits."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**15 else value


def problem_line(problem: Problem) -> str:
    """One problem as a line: the field, the value, and what is allowed."""
    values: dict[str, Any] = {"field": problem.field, "value": _readable(problem.value)}
    for key, value in problem.parameters.items():
        if key == "nearest" and not value:
            value = ["none; `python -m planner models` and `gpus` list them"]
        values[key] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
    template = _PROBLEMS.get(problem.code)
    try:
        text = template.format(**values) if template else ""
    except (KeyError, ValueError, TypeError):
        text = ""
    if not text:
        details = "; ".join(f"{key}: {value}" for key, value in values.items() if value is not None and key != "field")
        text = f"{problem.field}: {problem.code.replace('-', ' ')} ({details})"
    return f"error: {text}"
