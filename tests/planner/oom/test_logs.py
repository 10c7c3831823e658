"""Logs in the shapes that PyTorch and the engines print; the figures are made up."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.estimate import estimate
from planner.oom.compare import compare
from planner.oom.read import LONGEST, read
from planner.oom.report import Part
from planner.plan.plan import parse
from planner.plan.request import request_of
from planner.result import InputError

MIB, GIB = 2**20, 2**30

TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 88, in <module>
    trainer.train()
  File "/opt/venv/lib/python3.12/site-packages/transformers/trainer.py", line 4020, in training_step
    self.accelerator.backward(loss, **kwargs)
  File "/opt/venv/lib/python3.12/site-packages/torch/_tensor.py", line 648, in backward
    torch.autograd.backward(
"""
TWO_X = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 496.00 MiB. GPU 1 has a total capacity of "
    "23.64 GiB of "
    "which 235.00 MiB is free. Process 20398 has 3.50 GiB memory in use. Including non-PyTorch memory, this "
    "process has "
    "19.90 GiB memory in use. Of the allocated memory 15.00 GiB is allocated by PyTorch, with 56.00 MiB "
    "allocated in private "
    "pools (e.g., CUDA Graphs), and 4.50 GiB is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is "
    "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


def compared(text, **chosen):
    plan, problems = parse(chosen)
    assert not problems
    return compare(read(text), plan, estimate(request_of(plan)))


def found(comparison):
    return [notice.code for notice in comparison.findings]


def test_torch_2():
    report = read(TRACEBACK + TWO_X)
    assert (report.source, report.form, report.device, report.where) == ("torch", "2.1", 1, "backward")
    assert report.asked == 496 * MIB
    assert report.capacity == pytest.approx(23.64 * GIB)
    assert report.free == 235 * MIB
    assert report.held == pytest.approx(19.9 * GIB)
    assert (report.allocated, report.cached, report.private_pools) == (15 * GIB, 4.5 * GIB, 56 * MIB)
    assert [(process.pid, process.bytes) for process in report.others] == [(20398, 3.5 * GIB)]


def test_torch_2_1_with_its_spelling_and_without_other_processes():
    report = read(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacty "
        "of 23.65 GiB of "
        "which 1.66 GiB is free. Including non-PyTorch memory, this process has 20.00 GiB memory in use. Of the "
        "allocated memory "
        "12.00 GiB is allocated by PyTorch, and 4.00 GiB is reserved by PyTorch but unallocated."
    )
    assert report.capacity == pytest.approx(23.65 * GIB)
    assert report.held_by_others == pytest.approx((23.65 - 1.66 - 20) * GIB)


@pytest.mark.parametrize(
    ("tail", "form", "cached"), [("1.50 GiB reserved in total by PyTorch", "1.4", 0.5), ("0.50 GiB cached", "1.0", 0.5)]
)
def test_torch_1(tail, form, cached):
    report = read(
        "RuntimeError: CUDA out of memory. Tried to allocate 2.25 GiB (GPU 3; 11.17 GiB total capacity; 1.00 "
        "GiB already "
        f"allocated; 24.81 MiB free; {tail})"
    )
    assert (report.form, report.device) == (form, 3)
    assert report.cached == pytest.approx(cached * GIB)
    assert report.held_by_us == pytest.approx(1.5 * GIB)


def test_mps():
    report = read(
        "RuntimeError: MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 512.00 MB, max "
        "allowed: 18.13 GB). Tried to allocate 1.00 GB on private pool."
    )
    assert (report.form, report.allocated, report.asked) == ("mps", 17 * GIB, GIB)
    assert report.limit == pytest.approx(18.13 * GIB)


@pytest.mark.parametrize(
    ("file", "function", "code", "where"),
    [
        ("torch/optim/adamw.py", "step", "exp_avg = torch.zeros_like(p)", "optimizer"),
        ("transformers/loss/loss_utils.py", "ForCausalLMLoss", "logits = logits.float()", "loss"),
        ("transformers/models/llama/modeling_llama.py", "eager_attention_forward", "w = matmul(q, k)", "attention"),
        ("torch/nn/modules/module.py", "_apply", "return t.to(device, dtype)", "loading"),
        ("vllm/v1/worker/gpu_model_runner.py", "initialize_kv_cache", "torch.zeros(size)", "cache"),
        ("torch/nn/modules/linear.py", "forward", "return F.linear(x)", "forward"),
    ],
)
def test_the_moment_is_in_the_frames(file, function, code, where):
    frame = f'Traceback (most recent call last):\n  File "/x/{file}", line 3, in {function}\n    {code}\n'
    assert read(frame + TWO_X).where == where


def test_vllm_before_0_8():
    report = read(
        "INFO 02-26 worker.py:267] the current vLLM instance can use total_gpu_memory (8.00GiB) x "
        "gpu_memory_utilization (0.70) = 5.60GiB\n"
        "INFO 02-26 worker.py:267] model weights take 5.25GiB; non_torch_memory takes 0.25GiB; PyTorch "
        "activation peak memory takes "
        "1.50GiB; the rest of the memory reserved for KV Cache is -1.40GiB.\n"
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`."
    )
    assert (report.source, report.form, report.failed, report.where) == ("vllm", "0.4", True, "cache")
    assert report.capacity == 8 * GIB
    assert report.limit == pytest.approx(5.6 * GIB)
    assert set(report.parts) == {Part("weights", 5.25 * GIB), Part("other", 0.25 * GIB), Part("activations", 1.5 * GIB)}


def test_vllm_start_that_succeeded():
    report = read(
        "(Worker_TP0 pid=9) INFO gpu_model_runner.py:4960] Model loading took 15.25 GiB memory and 23.1 seconds\n"
        "INFO gpu_worker.py:298] Available KV cache memory: 8.25 GiB\nINFO kv_cache_utils.py:864] GPU KV cache "
        "size: 178,880 tokens\n"
        "INFO Graph capturing finished in 5 secs, took 0.50 GiB\n"
    )
    assert not report.failed
    assert {part.id: part.bytes for part in report.parts} == {
        "weights": 15.25 * GIB,
        "kv-cache": 8.25 * GIB,
        "graphs": 0.5 * GIB,
    }
    assert report.longest_tokens == 178_880


def test_vllm_cache_too_small_for_one_request():
    text = (
        "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is "
        "needed, which is "
        "larger than the available KV cache memory (2.00 GiB). Based on the available memory, the estimated "
        "maximum model length is 16384."
    )
    report = read(text)
    assert (report.wanted_tokens, report.longest_tokens, report.asked) == (32768, 16384, 4 * GIB)
    assert "oom-cache-too-small" in found(compared(text, task="serve"))


def test_vllm_gpu_already_in_use():
    report = read(
        "ValueError: Free memory on device (10.25/23.50 GiB) on startup is less than desired GPU memory "
        "utilization (0.9, 21.15 GiB)."
    )
    assert (report.free, report.capacity) == (10.25 * GIB, 23.5 * GIB)
    assert report.limit == pytest.approx(21.15 * GIB)


def test_sglang():
    report = read(
        "[2026-01-01 09:00:00 TP0] Load weight end. elapsed=19.0 s, type=Qwen3ForCausalLM, "
        "dtype=torch.bfloat16, avail mem=63.25 GB, "
        "mem usage=15.00 GB.\n[2026-01-01 09:00:01 TP0] KV Cache is allocated. #tokens: 367404, K size: 8.25 "
        "GB, V size: 8.25 GB\n"
        "[2026-01-01 09:00:02 TP0] Capture cuda graph end. Time elapsed: 8.1 s. mem usage=0.50 GB. avail "
        "mem=12.00 GB.\n"
    )
    assert report.source == "sglang"
    assert {part.id: part.bytes / GIB for part in report.parts} == {"weights": 15, "kv-cache": 16.5, "graphs": 0.5}
    assert (report.free, report.longest_tokens) == (12 * GIB, 367404)


def test_llama_cpp():
    text = (
        "load_tensors:        CUDA0 model buffer size = 4096.00 MiB\nload_tensors:        CUDA1 model buffer "
        "size = 8192.00 MiB\n"
        "load_tensors:   CPU_Mapped model buffer size =   512.00 MiB\nllama_kv_cache:      CUDA0 KV buffer size "
        "=  1024.00 MiB\n"
        "llama_kv_cache:      CUDA1 KV buffer size =  1024.00 MiB\n"
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 1: cudaMalloc failed: out "
        "of memory\n"
        "ggml_gallocr_reserve_n_impl: failed to allocate CUDA1 buffer of size 9437184000\ngraph_reserve: failed "
        "to allocate compute buffers\n"
    )
    report = read(text)
    assert (report.source, report.device, report.asked, report.where) == ("llama.cpp", 1, 9000 * MIB, "forward")
    assert report.fullest == 1
    assert report.held_by_us == 9216 * MIB
    assert Part("kv-cache", 1024 * MIB, 0) in report.parts


def test_pieces_and_other_processes_are_named():
    codes = found(compared(TWO_X))
    assert "oom-fragmented" in codes
    assert "oom-others-hold" in codes
    assert codes.index("oom-short-by") < codes.index("oom-fragmented")


def test_a_request_larger_than_the_gpu():
    text = TWO_X.replace("496.00 MiB", "64.00 GiB")
    assert found(compared(text))[0] == "oom-asked-more-than-gpu"


def test_against_the_plan():
    small = {"task": "finetune", "model": "Qwen/Qwen3-0.6B", "micro_batch_size": 1, "sequence_length": 256}
    assert "oom-more-than-planned" in found(compared(TWO_X, **small))
    assert "oom-planned-so" in found(compared(TWO_X, model="meta-llama/Llama-3.1-8B", micro_batch_size=8))
    assert "oom-another-gpu" in found(compared(TWO_X, gpu="h100-sxm5-80gb"))
    assert "oom-another-gpu" not in found(compared(TWO_X, gpu="rtx-4090"))


def test_changes_save_memory_and_those_that_save_enough_come_first():
    comparison = compared(TWO_X, model="meta-llama/Llama-3.1-8B", micro_batch_size=8)
    assert comparison.changes
    assert all(change.memory_ratio < 1 for change in comparison.changes)
    assert comparison.changes[0].fits


def test_rows_put_the_plan_beside_the_log():
    rows = {row.id: row for row in compared(TWO_X).rows}
    assert rows["allocated"].seen == 15 * GIB
    assert rows["allocated"].planned > 0
    assert rows["others"].planned is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "nothing-pasted"), ("all is well", "no-memory-in-log"), ("x" * (LONGEST + 1), "text-too-long")],
)
def test_bad_texts_are_refused_in_words(text, code):
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.problems[0].code == code


PIECES = [
    "CUDA out of memory",
    "Tried to allocate ",
    "9,9 GiB",
    "nan MiB",
    "GPU 0",
    "already allocated",
    "KV cache memory: ",
    "(",
    "max seq len (",
    "CUDA0 KV buffer size = ",
    "1.5 MiB",
    'File "a", line 1, in b',
    "\n",
    " ",
    "-1 GiB",
    "0 bytes",
    "1e9 GiB",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=15))
def test_any_mixture_is_read_or_refused(pieces):
    with contextlib.suppress(InputError):
        report = read("".join(pieces))
        plan = parse({})[0]
        assert compare(report, plan, estimate(request_of(plan))) is not None


def test_long_logs_are_read_quickly():
    noise = 'File "/x/y.py", line 1, in z\n    value = 1\n(Worker pid=3) INFO 0.5 GiB of something [x.py:1]\n' * 8000
    assert read(noise[: LONGEST - 2000] + TWO_X).asked == 496 * MIB
