"""TensorFlow and Keras: input pipelines, precision, graph mode."""

import ast

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, keyword, lacks, last
from planner.code_check.program import Function, Program, is_update

_READERS = ("tensorflow.data.", "tensorflow_datasets.load", "tf.data.")
_MAKERS = frozenset(
    ("from_tensor_slices", "from_generator", "list_files", "TFRecordDataset", "TextLineDataset", "load", "interleave",
     "image_dataset_from_directory", "text_dataset_from_directory", "timeseries_dataset_from_array")
)  # fmt: skip
_FOLDERS = ("image_dataset_from_directory", "text_dataset_from_directory", "timeseries_dataset_from_array")


def rules(program: Program) -> Hits:
    """Everything about TensorFlow and Keras."""
    if not program.uses("tensorflow", "keras", "tensorflow_datasets"):
        return
    trained = [call for call in program.calls if last(call.func) in ("fit", "fit_generator") and _is_model(call)]
    yield from _pipeline(program)
    yield from _graph(program)
    yield from _loops(program)
    half = any("mixed" in name or "bfloat16" in name or "float16" in name for name in program.identifiers)
    own = [] if program.uses("torch") else [loop for loop in program.loops if isinstance(loop, ast.For | ast.While)]
    if (trained or own) and not half and not program.mentions("set_dtype_policy"):
        yield Hit("keras.precision", (trained or own)[0])


def _is_model(call: ast.Call) -> bool:
    """Not the `fit` of a scaler or an encoder: a model's is given epochs, batches or callbacks."""
    given = {one.arg for one in call.keywords}
    return bool(given & {"epochs", "batch_size", "steps_per_epoch", "validation_data", "callbacks", "validation_split"})


def _pipeline(program: Program) -> Hits:
    made = [call for call in program.calls if _is_dataset(program, call)]
    if not made:
        return
    if not program.mentions("prefetch"):
        yield Hit("keras.prefetch", made[0])
    mapped = [call for call in program.calls if last(call.func) == "map" and _on_dataset(program, call)]
    for call in mapped:
        if lacks(call, "num_parallel_calls") and len(call.args) < 2:
            yield Hit("keras.map", call)
    if mapped and not program.mentions("cache"):
        yield Hit("keras.cache", mapped[0])


def _is_dataset(program: Program, call: ast.Call) -> bool:
    name = program.name(call)
    return (name.startswith(_READERS) and "experimental" not in name) or name.split(".")[-1] in _FOLDERS


def _on_dataset(program: Program, call: ast.Call) -> bool:
    """Whether a chain of calls begins at a data set, or at a name that holds one."""
    node: ast.AST = call
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call) and _is_dataset(program, node):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and not program.makers.get(node.id, set()).isdisjoint(_MAKERS)


def _graph(program: Program) -> Hits:
    for call in program.calls:
        if last(call.func) == "compile" and constant(keyword(call, "run_eagerly")) is True:
            yield Hit("keras.eager", call)
        elif last(call.func) == "compile" and constant(keyword(call, "jit_compile")) is False:
            yield Hit("keras.jit", call)
        elif last(call.func) == "run_functions_eagerly" and constant(call.args[0] if call.args else None) is True:
            yield Hit("keras.eager", call)


def _loops(program: Program) -> Hits:
    if program.uses("torch"):
        return
    for call in program.calls:
        if last(call.func) == "gradient" and is_update(program, call):
            if not _in_graph(program, call):
                yield Hit("keras.no-function", call)
            break
    for call in program.calls:
        loop = program.loop_of(call)
        if last(call.func) == "predict" and isinstance(call.func, ast.Attribute) and loop is not None:
            yield Hit("keras.predict", call)


def _in_graph(program: Program, call: ast.AST, level: int = 0) -> bool:
    """Whether a function around the call is compiled by `tf.function`, or its callers' are, or Keras does it."""
    function = program.function_of(call)
    if function is None:
        return False
    if function.name == "train_step" and program.bases(function):
        return True
    around = [function, *(one for one in program.above(function) if isinstance(one, Function))]
    for one in around:
        if any("function" in ast.unparse(mark) for mark in one.decorator_list):
            return True
    wrapped = any(
        program.name(one).endswith("tf.function") or program.name(one) == "tensorflow.function"
        for one in program.calls
        if any(isinstance(given, ast.Name) and given.id == function.name for given in one.args)
    )
    callers = program.callers.get(function, [])
    return wrapped or (level < 2 and bool(callers) and all(_in_graph(program, one, level + 1) for one in callers))
