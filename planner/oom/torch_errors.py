"""PyTorch's out-of-memory errors.

Shapes, from c10/cuda/CUDACachingAllocator.cpp of the releases, and seen in pytorch/pytorch issues 16417 and 59778:

* 1.0 to 1.3: Tried to allocate A (GPU 0; B total capacity; C already allocated; D free; E cached)
* 1.4 to 2.0: ... E reserved in total by PyTorch)
* 2.1 and later: Tried to allocate A. GPU 0 has a total capacity of B of which D is free. Process 12 has P memory in
  use. Including non-PyTorch memory, this process has H memory in use. Of the allocated memory C is allocated by
  PyTorch, with G allocated in private pools (e.g., CUDA Graphs), and E is reserved by PyTorch but unallocated.
  ("capacty" in 2.1 and 2.2.)
* MPS: MPS backend out of memory (MPS allocated: C, other allocations: O, max allowed: L). Tried to allocate A
"""

import re
from dataclasses import replace

from planner.oom.report import Process, Report
from planner.oom.sizes import SIZE, in_bytes, size_after, size_before

_ERROR = re.compile(r"(?:CUDA|HIP|XPU|MPS backend) out of memory.{0,1200}", re.DOTALL)
_DEVICE = re.compile(r"GPU (\d+)")
_PROCESS = re.compile(rf"Process (\d+) has {SIZE} memory in use")


def recognise(text: str) -> bool:
    """Whether the text holds one of the shapes."""
    return _ERROR.search(text) is not None


def read(text: str) -> Report:
    """The last out-of-memory error of a traceback: earlier ones were caught, or came from the same failure."""
    start = [match.start() for match in re.finditer(r"(?:CUDA|HIP|XPU|MPS backend) out of memory", text)][-1]
    message = " ".join(text[start : start + 1500].split("Traceback (most recent call last)")[0].split())
    device = _DEVICE.search(message)
    bare = Report(
        source="torch",
        device=int(device[1]) if device else None,
        asked=size_after(r"Tried to allocate ", message),
        where=where(text[: start + 200]),
    )
    if message.startswith("MPS"):
        return replace(
            bare,
            form="mps",
            allocated=size_after(r"MPS allocated: ", message),
            cached=size_after(r"other allocations: ", message),
            limit=size_after(r"max allowed: ", message),
        )
    if "already allocated" in message:
        return _before_2_1(message, bare)
    others = tuple(Process(int(pid), in_bytes(number, unit)) for pid, number, unit in _PROCESS.findall(message))
    return replace(
        bare,
        form="2.1",
        capacity=size_after(r"total capaci?ty of ", message),
        free=size_after(r"of which ", message),
        held=size_after(r"this process has ", message),
        allocated=size_after(r"Of the allocated memory ", message),
        cached=size_before(r" is reserved by PyTorch but unallocated", message),
        private_pools=size_before(r" allocated in private pools", message),
        others=others,
    )


def _before_2_1(message: str, bare: Report) -> Report:
    allocated = size_before(r" already allocated", message)
    reserved = size_before(r" (?:reserved in total|cached)", message)
    cached_only = "reserved in total" not in message  # before 1.4 the figure left the tensors out
    cached = reserved if cached_only or reserved is None or allocated is None else max(0.0, reserved - allocated)
    return replace(
        bare,
        form="1.0" if cached_only else "1.4",
        capacity=size_before(r" total capacity", message),
        free=size_before(r" free", message),
        allocated=allocated,
        cached=cached,
    )


_PLACES = (
    ("optimizer", r"optim/|optimizer\.step|_multi_tensor_|adam|bitsandbytes/optim"),
    ("backward", r"\.backward\(|autograd/"),
    ("loss", r"cross_entropy|loss_utils|CausalLMLoss|log_softmax|lm_head"),
    ("cache", r"kv_cache|initialize_cache|allocate_cache|memory_pool|mem_cache"),
    ("graphs", r"cuda_graph|capture_model|graph_runner"),
    ("loading", r"from_pretrained|load_state_dict|load_model|load_weights|\.to\(device|_apply\(|\.cuda\("),
    ("attention", r"attention|sdpa|attn|softmax"),
)


def where(traceback: str) -> str | None:
    """The moment that the innermost telling frames show; forward where there are frames that tell nothing."""
    frames = re.findall(r'File "([^"]{0,300})", line \d+, in (\S+)\n?\s*([^\n]{0,300})', traceback[-60_000:])
    for file, function, code in reversed(frames[-40:]):
        for place, pattern in _PLACES:
            if re.search(pattern, f"{file} {function} {code}", re.IGNORECASE):
                return place
    return "forward" if frames else None
