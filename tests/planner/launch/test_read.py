"""Pasted texts in the shapes that people write them."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.launch.compare import onto
from planner.launch.frameworks import FRAMEWORKS, export, read
from planner.launch.texts import LONGEST
from planner.plan.plan import parse, resolve
from planner.result import InputError

PRESENT = parse({"gpu": "h100-sxm5-80gb"})[0]


def codes(reading):
    return {notice.code for notice in reading.assumptions}


def unread(reading):
    return {one.option for one in reading.unread}


def failure(*texts):
    with pytest.raises(InputError) as caught:
        read(*texts)
    return caught.value.problems[0].code


def test_vllm_command():
    reading = read(
        "CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve Qwen/Qwen3-32B --tensor-parallel-size=4 --max-model-len 32K \\\n"
        "  --max-num-seqs 64 --quantization fp8 --kv_cache_dtype fp8_e5m2 --enforce-eager --enable-lora --port 8000"
    )
    values = onto(PRESENT, reading).values
    assert reading.frameworks == ("vllm",)
    assert (values["model"], values["gpus"], values["tensor_parallel"]) == ("Qwen/Qwen3-32B", 4, 4)
    assert (values["max_model_length"], values["concurrency"]) == (32768, 64)
    assert (values["weight_format"], values["kv_dtype"], values["cuda_graphs"]) == ("fp8", "fp8", False)
    assert unread(reading) == {"enable_lora"}
    assert "lengths-kept" in codes(reading)


def test_vllm_replicas_and_a_flag_before_the_model():
    reading = read("vllm serve --trust-remote-code meta-llama/Llama-3.1-8B-Instruct -tp 2 --data-parallel-size 4")
    assert reading.chosen["model"] == "meta-llama/Llama-3.1-8B"
    assert reading.chosen["gpus"] == 8


def test_vllm_in_python():
    reading = read(
        'from vllm import LLM\nllm = LLM(model="Qwen/Qwen3-8B", tensor_parallel_size=2, max_model_len=4096)\n'
    )
    assert reading.frameworks == ("vllm",)
    assert (reading.chosen["gpus"], reading.chosen["max_model_length"]) == (2, 4096)


def test_sglang_command():
    reading = read(
        "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 --nnodes 2 "
        "--mem-fraction-static 0.85"
    )
    values = onto(PRESENT, reading).values
    assert (values["gpus"], values["gpus_per_node"], values["engine"]) == (16, 8, "sglang")
    assert values["memory_fraction"] == 0.85


def test_llama_server_command():
    reading = read(
        "./llama-server -hf unsloth/Qwen3-8B-GGUF:Q8_0 -c 16384 -np 4 -ngl 99 -ctk q8_0 -ctv q8_0 -fa on "
        "--device CUDA0,CUDA1"
    )
    chosen = reading.chosen
    assert (chosen["model"], chosen["weight_format"]) == ("Qwen/Qwen3-8B", "gguf-q8_0")
    assert (chosen["concurrency"], chosen["max_model_length"], chosen["kv_dtype"]) == (4, 4096, "q8_0")
    assert (chosen["gpus"], chosen["pipeline_parallel"], chosen["tensor_parallel"]) == (2, 2, 1)


def test_layers_kept_on_the_host_are_told():
    assert [one.code for one in read("llama-server -m Qwen3-8B-Q4_K_M.gguf -ngl 20").unread] == ["layers-on-host"]


def test_modelfile():
    reading = read(
        'FROM llama3.1:8b\nPARAMETER num_ctx 8192\nPARAMETER temperature 0.7\nSYSTEM """\nPARAMETER num_ctx 1\n"""\n'
    )
    assert (reading.chosen["model"], reading.chosen["max_model_length"]) == ("meta-llama/Llama-3.1-8B", 8192)
    assert not reading.unread


def test_deepspeed_json_with_auto():
    reading = read(
        '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, '
        '"zero_optimization": '
        '{"stage": 3, "offload_optimizer": {"device": "cpu"}, "zero_quantized_weights": true}}'
    )
    chosen = reading.chosen
    assert (chosen["sharding"], chosen["precision"], chosen["offload_optimizer"]) == ("zero3", "bf16-master", "cpu")
    assert "auto-left" in codes(reading)
    assert unread(reading) == {"zero_optimization.zero_quantized_weights"}


def test_megatron_arguments_without_a_known_model():
    reading = read(
        """
        GPUS_PER_NODE=8
        NNODES=${SLURM_NNODES:-4}
        NNODES=4
        TP=8
        DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES"
        MODEL_ARGS=(
            --num-layers 48 --hidden-size 6144 --num-attention-heads 48
            --group-query-attention --num-query-groups 8 --swiglu --ffn-hidden-size 16384
            --untie-embeddings-and-output-weights  # comment
        )
        torchrun $DISTRIBUTED_ARGS pretrain_gpt.py ${MODEL_ARGS[@]} --tensor-model-parallel-size $TP \\
            --pipeline-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer --bf16 --seq-length 4096 \\
            --micro-batch-size 1 --global-batch-size 512 --recompute-granularity selective --fancy-new-option 3
        """
    )
    values = onto(PRESENT, reading).values
    assert (values["gpus"], values["tensor_parallel"], values["pipeline_parallel"]) == (32, 8, 2)
    assert values["gradient_accumulation_steps"] == 256
    assert values["spec"].text_stack.depth == 48
    assert (values["precision"], values["sharding"], values["recompute"]) == ("bf16-master", "zero1", "selective")
    assert unread(reading) == {"fancy_new_option"}
    assert {"model-by-shape", "vocabulary-assumed"} <= codes(reading)


def test_megatron_batch_without_gpus_is_an_assumption():
    reading = read("--tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 64 --bf16")
    assert "gpus-unknown" in codes(reading)


def test_axolotl_yaml():
    reading = read(
        "base_model: NousResearch/Meta-Llama-3.1-8B\nload_in_4bit: true\nadapter: qlora\nlora_r: "
        "32\nlora_dropout: 0.05\n"
        "lora_target_linear: true\nsequence_len: 4096\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\noptimizer: "
        "paged_adamw_8bit\nbf16: auto\ngradient_checkpointing: true\nflash_attention: true\ndatasets:\n  - "
        "path: x\n    type: alpaca\n"
    )
    chosen = reading.chosen
    assert (chosen["model"], chosen["method"], chosen["lora_rank"]) == ("meta-llama/Llama-3.1-8B", "qlora", 32)
    assert (chosen["precision"], chosen["optimizer"], chosen["attention"]) == ("bf16-amp", "paged-adamw-8bit", "flash")
    assert chosen["lora_dropout"] is True


def test_llama_factory_yaml():
    reading = read(
        "model_name_or_path: Qwen/Qwen3-8B\nfinetuning_type: lora\nstage: dpo\nquantization_bit: 4\ncutoff_len: "
        "2048\nbf16: true\n"
    )
    assert (reading.chosen["method"], reading.chosen["base_format"]) == ("qlora", "nf4")
    assert "stage-as-sft" in codes(reading)


def test_hugging_face_flags():
    reading = read(
        "torchrun --nproc_per_node=4 run_clm.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 "
        "--bf16 --gradient_checkpointing --block_size 1024 --optim adamw_torch_fused --output_dir out --do_train"
    )
    chosen = reading.chosen
    assert (chosen["gpus"], chosen["micro_batch_size"], chosen["recompute"]) == (4, 2, "full")
    assert (chosen["sequence_length"], chosen["optimizer"]) == (1024, "adamw-fused")
    assert not reading.unread


def test_old_accelerate_yaml_with_deepspeed():
    reading = read(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\n"
        "  offload_optimizer_device: cpu\n  gradient_accumulation_steps: 8\nmixed_precision: "
        "bf16\nnum_machines: 2\nnum_processes: 16\n"
    )
    chosen = reading.chosen
    assert (chosen["sharding"], chosen["offload_optimizer"]) == ("zero2", "cpu")
    assert (chosen["gpus"], chosen["gpus_per_node"]) == (16, 8)


def test_values_out_of_range_are_told_not_taken():
    reading = read("vllm serve Qwen/Qwen3-8B --max-num-seqs 999999999 --gpu-memory-utilization 7")
    assert "concurrency" not in reading.chosen
    assert {one.code for one in reading.unread} == {"bad-value"}


def test_an_unknown_model_is_told():
    assert [one.code for one in read("vllm serve /models/nobody-knows-this").unread] == ["unknown-model"]


def test_requests_are_cut_to_the_engines_length():
    values = onto(
        parse({"task": "serve", "input_tokens": 4000, "output_tokens": 1000})[0],
        read("vllm serve Qwen/Qwen3-8B --max-model-len 2048"),
    ).values
    assert values["input_tokens"] + values["output_tokens"] == 2048


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "nothing-pasted"),
        ("   \n", "nothing-pasted"),
        ("hello there", "not-recognised"),
        ('{"a": 1}', "not-recognised"),
        ('{"a": ', "not-json"),
        ("{" * 100_000, "text-too-long"),
        ("x" * (LONGEST + 1), "text-too-long"),
        ("vllm serve 'unclosed --max-num-seqs 3", "not-a-command"),
        ("[model]\nname = ", "not-toml"),
        ("import torch\nx = (", "not-python"),
        ("a: [1, 2\nb: 3", "not-yaml"),
        ("a: &x [1]\n" + "".join(f"k{i}: *x\n" for i in range(40)), "text-too-long"),
        ("a:\n" + "".join(" " * (i + 1) + f"b{i}:\n" for i in range(40)) + " " * 50 + "c: 1", "too-deep"),
        ("base_model: !!python/object/apply:os.system ['true']", "not-yaml"),
    ],
)
def test_bad_texts_are_refused_in_words(text, code):
    assert failure(text) == code


def test_nothing_in_python_is_run():
    reading = read(
        'from transformers import TrainingArguments\nimport os\nos.system("false")\nMODEL = __import__("os").getcwd()\n'
        "args = TrainingArguments(per_device_train_batch_size=[2 for _ in range(3)], optim=f'{1/0}', bf16=True)\n"
    )
    assert "optimizer" in {notice.parameters.get("field") for notice in reading.assumptions}
    assert reading.chosen["micro_batch_size"] == 8


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        assert read(text).frameworks


PIECES = [
    *(
        "vllm serve",
        "--max-num-seqs",
        "--bf16",
        "=",
        "\n",
        "-",
        "'",
        "{",
        "}",
        "[a]",
        ": ",
        "base_model: x",
        "FROM a",
        "$(x)",
        "${A}",
    ),
    *(
        "import torch",
        "TrainingArguments(",
        "optim=",
        "&a",
        "*a",
        "<<: *a",
        "apiVersion: v1",
        "kind: Job",
        "9e999",
        "null",
        "--",
        "#SBATCH --nodes=x",
    ),
    *(
        "micro_batch_size: ",
        "zero_optimization",
        "compute_environment: 1\n",
        "finetuning_type: [1]",
        "lora_target_modules: {a: 1}",
        "tensor_model_parallel_size",
    ),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["", " ", "\n"]))
def test_any_mixture_is_read_or_refused(pieces, between):
    with contextlib.suppress(InputError):
        reading = read(between.join(pieces))
        assert set(reading.frameworks) <= set(FRAMEWORKS)
        assert onto(PRESENT, reading).spec


@pytest.mark.parametrize("flag", ["--disable-cuda-graph", "--cuda-graph-backend-decode disabled"])
def test_sglang_without_graphs_in_both_spellings(flag):
    text = f"python -m sglang.launch_server --model-path Qwen/Qwen3-8B {flag} --tp-size 2"
    reading = read(text)
    assert reading.chosen["cuda_graphs"] is False
    assert not reading.unread


def test_nf4_names_the_releases_of_vllm_that_have_it():
    plan = resolve({"task": "serve", "model": "Qwen/Qwen3-8B", "gpu": "l40s", "weight_format": "nf4"})
    assert "needs a release before 0.33" in export(plan, "vllm").files[0].text
