"""Start-up lines of vLLM, SGLang and llama.cpp (and Ollama, which prints llama.cpp's).

Shapes, as the engines print them:

* vLLM 0.4 to 0.6, vllm-project/vllm issues 10517 and 13882: "Loading model weights took 14.98 GB"; "Memory profiling
  results: total_gpu_memory=23.58GiB ... peak_torch_memory=17.06GiB ... non_torch_memory=0.35GiB kv_cache_size=3.81GiB";
  "model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; the rest of
  the memory reserved for KV Cache is -1.05GiB"; "total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) = 5.60GiB".
* vLLM 0.8 and later, issues 21348 and 27017: "Model loading took 15.26 GiB memory and 23.1 seconds"; "Available KV
  cache memory: 8.11 GiB"; "GPU KV cache size: 178,880 tokens"; "Graph capturing finished in 5 secs, took 0.54 GiB";
  "Free memory on device (10.2/23.6 GiB) on startup is less than desired GPU memory utilization (0.9, 21.2 GiB)".
* SGLang, sgl-project/sglang pull requests 11716 and 18263: "Load weight end. ... avail mem=230.20 GB, mem usage=56.98
  GB."; "KV Cache is allocated. #tokens: 2795207, K size: 53.31 GB, V size: 53.31 GB"; "Capture cuda graph end. ... mem
  usage=0.62 GB"; "Not enough memory. Please try to increase --mem-fraction-static".
* llama.cpp, ggml-org/llama.cpp issue 20431 and pull request 8035: "load_tensors: CUDA0 model buffer size = 48928.09
  MiB"; "llama_kv_cache: CUDA0 KV buffer size = 379.23 MiB"; "CUDA0 compute buffer size = 1108.50 MiB";
  "allocating 144.00 MiB on device 4: cudaMalloc failed: out of memory".
"""

import re

from planner.oom.report import Part, Report
from planner.oom.sizes import SIZE, in_bytes, size_after
from planner.oom.torch_errors import where

_VLLM = re.compile(
    r"Available KV cache memory|Loading model weights took|Model loading took|model weights take|GPU KV cache size"
    r"|No available memory for the cache blocks|max seq len \(|desired GPU memory utilization|Memory profiling results"
)
_SGLANG = re.compile(r"Load weight end|KV Cache is allocated|mem-fraction-static|Memory pool end|max_total_num_tokens=")
_LLAMA = re.compile(r"buffer size\s*=\s*[\d.]+ MiB|cudaMalloc failed|failed to allocate \w+ buffer of size")


def recognise(text: str) -> str | None:
    """The engine whose lines the text holds."""
    for engine, pattern in (("vllm", _VLLM), ("sglang", _SGLANG), ("llama.cpp", _LLAMA)):
        if pattern.search(text):
            return engine
    return None


def read(text: str) -> Report:
    """The memory that an engine accounts for at start-up. Of several workers' lines the last counts: they are equal."""
    return {"vllm": _vllm, "sglang": _sglang, "llama.cpp": _llama}[recognise(text) or "vllm"](text)


def _parts(text: str, shapes: tuple[tuple[str, str], ...]) -> tuple[Part, ...]:
    found: dict[str, float] = {}
    for id, shape in shapes:
        size = size_after(shape, text)
        if size is not None and size > 0:
            found.setdefault(id, size)
    return tuple(Part(id, size) for id, size in found.items())


def _whole(pattern: str, text: str) -> int | None:
    found = re.findall(pattern, text)
    return int(found[-1].replace(",", "")) if found else None


def _vllm(text: str) -> Report:
    needed = re.findall(rf"max seq len \(([\d,]+)\).{{0,80}}?\(?{SIZE} KV cache is needed", text, re.DOTALL)
    startup = re.findall(
        r"Free memory on device.{0,20}?\(([\d.]+)/([\d.]+) GiB\).{0,120}?\([\d.]+, ([\d.]+) GiB\)", text, re.DOTALL
    )
    failed = re.search(
        r"No available memory|max seq len \(|is less than desired|out of memory|Engine core init.*failed", text
    )
    return Report(
        source="vllm",
        form="0.8" if re.search(r"Model loading took|Available KV cache|KV cache is needed", text) else "0.4",
        failed=failed is not None,
        asked=in_bytes(*needed[-1][1:]) if needed else None,
        capacity=in_bytes(startup[-1][1], "GiB") if startup else size_after(r"total_gpu_memory\s?[=(]\s?", text),
        free=in_bytes(startup[-1][0], "GiB") if startup else None,
        limit=in_bytes(startup[-1][2], "GiB") if startup else size_after(r"gpu_memory_utilization \([\d.]+\) = ", text),
        parts=_parts(
            text,
            (
                ("weights", r"(?:Loading model weights took|Model loading took|model weights take) "),
                ("other", r"non_torch_memory(?:=| takes )"),
                ("activations", r"PyTorch activation peak memory takes "),
                ("kv-cache", r"(?:Available KV cache memory: |reserved for KV Cache is |kv_cache_size=)"),
                ("kv-cache", r"available KV cache memory \("),
                ("graphs", r"Graph capturing finished in [\d.]+ secs?, took "),
            ),
        ),
        where="cache" if re.search(r"KV cache is needed|cache blocks|stored in KV cache", text) else where(text),
        wanted_tokens=_whole(r"max seq len \(([\d,]+)\)", text),
        longest_tokens=_whole(r"estimated maximum model length is ([\d,]+)", text)
        or _whole(r"stored in KV cache \(([\d,]+)\)", text)
        or _whole(r"GPU KV cache size: ([\d,]+) tokens", text),
    )


def _sglang(text: str) -> Report:
    keys, values = size_after(r"K size: ", text), size_after(r"V size: ", text)
    cache = size_after(r"KV size: ", text) or (keys or 0) + (values or 0)
    parts = _parts(
        text,
        (("weights", r"Load weight end.{0,200}?mem usage="), ("graphs", r"Capture cuda graph end.{0,80}?mem usage=")),
    )
    return Report(
        source="sglang",
        form="0.4",
        failed=re.search(r"[Nn]ot enough memory|out of memory|mem-fraction-static", text) is not None,
        free=size_after(r"avail(?:able)?[ _]mem=", text),
        parts=(*parts, *((Part("kv-cache", cache),) if cache else ())),
        where="cache" if "ot enough memory" in text else where(text),
        longest_tokens=_whole(r"max_total_num_tokens=([\d,]+)", text) or _whole(r"#tokens: ([\d,]+)", text),
    )


_BUFFER = re.compile(
    rf"(?:CUDA|ROCm|Vulkan|SYCL|Metal|MTL)(\d*)\s+(model |KV |compute |output |RS |)buffer size\s*=\s*{SIZE}"
)
_KINDS = {
    "model": "weights",
    "": "weights",
    "KV": "kv-cache",
    "RS": "kv-cache",
    "compute": "activations",
    "output": "other",
}


def _llama(text: str) -> Report:
    parts: dict[tuple[str, int], float] = {}
    for device, kind, number, unit in _BUFFER.findall(text):
        key = (_KINDS[kind.strip()], int(device or 0))
        parts[key] = parts.get(key, 0) + in_bytes(number, unit)
    refused = re.findall(rf"allocating {SIZE} on device (\d+): \w+ failed", text)
    moments = {"KV": "cache", "model": "loading", "compute": "forward"}
    reached = [kind.strip() for _, kind, _, _ in _BUFFER.findall(text)]
    place = (
        "forward"
        if re.search(r"compute buffers?", text) and refused
        else moments.get(reached[-1] if reached else "model")
    )
    free = re.findall(rf"using device \w+.{{0,120}}? - {SIZE} free", text)
    return Report(
        source="llama.cpp",
        form="gguf",
        failed=bool(refused) or re.search(r"failed to allocate|out of memory", text) is not None,
        device=int(refused[-1][2]) if refused else None,
        asked=in_bytes(*refused[-1][:2]) if refused else None,
        free=in_bytes(*free[-1]) if free else None,
        parts=tuple(Part(id, size, device) for (id, device), size in parts.items()),
        where=place,
    )
