"""Every option that is written exists in its framework: option_names.json has the lists, with versions and sources."""

import ast
import json
import re
from pathlib import Path

import pytest

from planner.launch import sglang, trainer_names, vllm
from planner.launch.frameworks import export
from planner.launch.options import flatten
from planner.launch.texts import options_of
from planner.plan.plan import parse
from tests.planner.launch import test_round_trip as cases

KNOWN = {
    name: set(entry["names"])
    for name, entry in json.loads(Path(__file__).with_name("option_names.json").read_text()).items()
}
LAUNCHERS = {"nproc_per_node", "nnodes", "rdzv_backend", "rdzv_endpoint"}
OWN_KEYS = {"parallelism_config", "deepspeed"}  # of TrainingArguments, kept in the list too


def launches(name):
    for other, base, fields in cases.SAID:
        if other == name:
            for field, values in fields.items():
                for value in values:
                    plan = cases.survives(base, field, value)
                    if plan.uses(field):
                        yield export(plan, name)


def written(name, language):
    """The names of the options in all files of one language."""
    found = set()
    for launch in launches(name):
        for file in launch.files:
            if file.language == language:
                for options in options_of(file.text):
                    found |= set(options.rest)
    return found


@pytest.mark.parametrize(
    ("name", "language", "entry"),
    [
        ("accelerate", "yaml", "accelerate"),
        ("deepspeed", "json", "deepspeed"),
        ("axolotl", "yaml", "axolotl"),
        ("llama-factory", "yaml", "llama-factory"),
        ("torchtitan", "toml", "torchtitan"),
        ("tensorrt-llm", "yaml", "tensorrt-llm"),
    ],
)
def test_keys_exist(name, language, entry):
    names = written(name, language)
    assert names
    assert names - KNOWN[entry] == set()


@pytest.mark.parametrize("name", ["megatron-lm", "vllm", "sglang", "tensorrt-llm", "llama.cpp"])
def test_flags_exist(name):
    known = {option.replace("-", "_") for option in KNOWN[name]}
    names = {option for option in written(name, "bash") if "." not in option} - LAUNCHERS - {"m"}
    assert names
    assert names - known == set()


def test_parameters_of_a_modelfile_exist():
    names = {option.removeprefix("parameter.") for option in written("ollama", "dockerfile")} - {"from"}
    assert names == KNOWN["ollama"]


def keywords(name, callee):
    """Names of the arguments that scripts give to a call."""
    found = set()
    for launch in launches(name):
        for file in launch.files:
            if file.language == "python":
                for node in ast.walk(ast.parse(file.text)):
                    if isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".", 1)[-1] == callee:
                        found |= {keyword.arg for keyword in node.keywords}
    return found


def test_arguments_of_scripts_exist():
    for name in ("hugging-face", "accelerate", "deepspeed"):
        names = keywords(name, "TrainingArguments")
        assert names
        assert names - KNOWN["transformers"] == set()
    assert keywords("hugging-face", "LoraConfig") - KNOWN["peft"] == set()
    assert keywords("unsloth", "SFTConfig") - KNOWN["trl"] - KNOWN["transformers"] == set()
    for call in ("from_pretrained", "get_peft_model"):
        names = keywords("unsloth", call)
        assert names
        assert names - KNOWN[f"unsloth-{call}"] == set()


@pytest.mark.parametrize("engine", [vllm, sglang])
def test_quantisations_exist(engine):
    older = getattr(engine, "OLDER", set())
    assert set(engine.QUANTISATIONS.values()) - older <= KNOWN[f"{engine.FRAMEWORK.id}-quantization"]
    assert not older & KNOWN[f"{engine.FRAMEWORK.id}-quantization"]


def test_optimizers_exist():
    assert set(trainer_names.OPTIMIZERS.values()) <= KNOWN["optimizers"]


def test_every_list_has_its_source():
    for entry in json.loads(Path(__file__).with_name("option_names.json").read_text()).values():
        assert re.search(r"\d|docs|\.(py|go|md)", entry["source"])
        assert entry["names"] == sorted(entry["names"])


def test_flatten_is_the_inverse_of_nesting():
    assert flatten({"a": {"b": 1, "c": {"d": [2]}}, "e": None}) == {"a.b": 1, "a.c.d": [2], "e": None}


def test_scripts_are_valid_python_and_configurations_parse():
    for name in ("hugging-face", "unsloth", "torch-fsdp2", "deepspeed"):
        for launch in launches(name):
            for file in launch.files:
                if file.language == "python":
                    compile(file.text, file.name, "exec")


def test_generated_plans_have_no_problems():
    for _, base, _ in cases.SAID:
        assert not parse(base)[1]
