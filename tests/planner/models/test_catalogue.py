"""Looking models up by id, by name and by facet."""

import re
import time

import pytest

from planner.models import catalogue
from planner.models.catalogue import entries, find, model, search
from planner.models.spec import ModelTask
from planner.result import InputError


def test_every_entry_is_whole():
    assert len(entries()) == 466
    assert len({entry.id for entry in entries()}) == 466
    for entry in entries():
        assert entry.config.get("model_type"), entry.id
        assert entry.parameters > 1e6, entry.id
        assert entry.config_source, entry.id
        assert entry.parameters_source, entry.id
        assert re.fullmatch(r"(20\d\d(-\d\d){0,2})?", entry.released), entry.id


def test_configurations_hold_no_tokens_and_no_blanks():
    def keys(config):
        for key, value in config.items():
            yield key, value
            if isinstance(value, dict):
                yield from keys(value)

    for entry in entries():
        for key, value in keys(entry.config):
            assert not key.endswith("_token_id"), entry.id
            assert value is not None, (entry.id, key)


def _timed_read():
    start = time.process_time()  # of this process: the machine may be busy with others
    assert len(entries.__wrapped__()) == 466  # past the cache
    return time.process_time() - start


def test_the_whole_file_is_read_quickly():
    assert min(_timed_read() for _ in range(5)) < 0.1


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("META-LLAMA/llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("Llama 3.1 8B Instruct", "meta-llama/Llama-3.1-8B"),
        ("llama_3.1_8b", "meta-llama/Llama-3.1-8B"),
        ("Mistral-7B-Instruct-v0.3", "mistralai/Mistral-7B-v0.3"),
        ("mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1"),
        ("meta-llama/Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b-hf"),
        ("gpt2", "openai-community/gpt2"),
    ],
)
def test_find(text, id):
    assert find(text).id == id


def test_every_id_and_name_finds_its_own_entry():
    assert [entry.id for entry in entries() if find(entry.id) is not entry] == []
    assert [entry.id for entry in entries() if find(entry.name) is not entry] == []


@pytest.mark.parametrize("text", ["llama-3.1-9b", "phi-3-mini", "", " ", "x" * 10_000, "timm/nothing", "\ud800"])
def test_an_unknown_name_is_refused_with_the_nearest(text):
    with pytest.raises(InputError) as caught:
        find(text)
    (problem,) = caught.value.problems
    assert problem.code == "unknown-model"
    assert all(find(id).id == id for id in problem.parameters["nearest"])


def test_the_nearest_are_near():
    with pytest.raises(InputError) as caught:
        find("lama-3.1-8b")
    assert "meta-llama/Llama-3.1-8B" in caught.value.problems[0].parameters["nearest"]


def test_a_size_word_is_not_dropped():
    """`bert-base` is a size, `7b-base` a training stage: `bert` alone means none of several sizes."""
    with pytest.raises(InputError):
        find("bert-uncased-x")
    assert find("Qwen3-8B-Base").id == "Qwen/Qwen3-8B"


def test_search_by_words_task_and_size():
    found = search("qwen3 8b")
    assert {"Qwen/Qwen3-8B", "Qwen/Qwen3-VL-8B-Instruct"} <= {entry.id for entry in found}
    speech = search(task=ModelTask.SPEECH)
    assert speech
    assert all(entry.task is ModelTask.SPEECH for entry in speech)
    small = search(smallest=1e9, largest=2e9, task=ModelTask.CAUSAL_LM)
    assert small
    assert all(1e9 <= entry.parameters <= 2e9 for entry in small)
    assert all(entry.family == "Pythia" for entry in search(family="pythia"))
    assert search("no such words") == ()


def test_image_and_diffusion_models_are_found_by_prefix():
    image = model("timm/resnet50")
    assert image.total_parameters == pytest.approx(25.56e6, rel=0.01)
    assert find("TIMM/ResNet50").parameters == image.total_parameters
    diffusion = next(entry for entry in search("stable diffusion v1 5") if entry.id.startswith("diffusion/"))
    assert model(diffusion.id).total_parameters == diffusion.parameters > 8e8


def test_a_model_is_built_once():
    assert model("llama-3.1-8b") is model("meta-llama/Llama-3.1-8B")
    spec = model("llama-3.1-8b")
    assert (spec.id, spec.name, spec.family) == ("meta-llama/Llama-3.1-8B", "Llama-3.1-8B", "Llama-3.1")
    assert spec.total_parameters == 8_030_261_248
    assert spec.recorded_parameters is None


def test_a_count_that_is_missed_by_much_is_recorded():
    entry = find("llama-3.1-8b")
    other = {name: getattr(entry, name) for name in entry.__slots__}
    spec = catalogue.specify(catalogue.Entry(**{**other, "parameters": 9_000_000_000}))
    assert spec.recorded_parameters == spec.total_parameters == 9_000_000_000
