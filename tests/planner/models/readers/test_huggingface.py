import json
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import errors
from hypothesis import given
from hypothesis import strategies as st

from planner.models.catalogue import entries, find
from planner.models.readers.huggingface import fetch_config, read_config
from planner.models.spec import ModelSpec
from planner.result import InputError

CONFIG = {
    **{"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000, "tie_word_embeddings": False},
}


def test_a_configuration_is_read():
    spec = read_config(json.dumps(CONFIG), id="mine/model")
    assert spec.id == "mine/model"
    assert spec.total_parameters == 2 * 1000 * 256 + 256 + 2 * (2 * 256 + 2 * 256**2 + 2 * 256 * 128 + 3 * 256 * 512)


def test_an_infinity_where_no_size_is_meant_is_no_harm():
    text = json.dumps({**CONFIG, "time_step_limit": [0.0, float("inf")]})
    assert read_config(text).total_parameters == read_config(json.dumps(CONFIG)).total_parameters


def test_an_empty_list_of_widths():
    config = json.loads(json.dumps(find("google/gemma-3n-E2B-it").config))
    config["text_config"]["intermediate_size"] = []
    with pytest.raises(InputError):
        read_config(json.dumps(config))


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(range(0, 466, 5)), st.data())
def test_damaged_configurations(row, data):
    """One or two values of a real configuration are replaced: it builds, or `InputError` says why not."""
    config = json.loads(json.dumps(entries()[row].config))
    for _ in range(2):
        config[data.draw(st.sampled_from(sorted(config)))] = data.draw(junk)
    try:
        spec = read_config(json.dumps(config))
    except InputError:
        return
    assert isinstance(spec, ModelSpec)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A Hub that answers with `hub.text`, or raises `hub.error`."""
    state = SimpleNamespace(text=json.dumps(CONFIG), error=None, size=None, asked=[])

    def metadata(url, **options):
        state.asked.append((url, options))
        if state.error is not None:
            raise state.error
        return SimpleNamespace(size=state.size)

    def download(repository, name, **options):
        path = tmp_path / "config.json"
        path.write_text(state.text)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", metadata)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return state


def test_a_configuration_is_fetched(hub):
    assert fetch_config(" someone/model-7b ", timeout=3, token="secret") == CONFIG
    ((url, options),) = hub.asked
    assert url.endswith("someone/model-7b/resolve/main/config.json")
    assert options == {"timeout": 3, "token": "secret"}


def bare(kind):
    return kind.__new__(kind)  # their constructors differ between versions


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (bare(errors.GatedRepoError), "hub-gated"),
        (bare(errors.RepositoryNotFoundError), "hub-not-found"),
        (bare(errors.EntryNotFoundError), "hub-not-found"),
        (bare(errors.LocalEntryNotFoundError), "hub-offline"),
        (bare(errors.OfflineModeIsEnabled), "hub-offline"),
        (bare(errors.HfHubHTTPError), "hub-offline"),
        (bare(errors.HfHubHTTPError.__bases__[0]), "hub-offline"),
        (TimeoutError(), "hub-offline"),
        (ConnectionError(), "hub-offline"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_what_goes_wrong_is_told_apart(hub, error, code):
    hub.error = error
    with pytest.raises(InputError) as caught:
        fetch_config("someone/model")
    assert [problem.code for problem in caught.value.problems] == [code]
    assert "secret" not in str(caught.value)


def test_a_mistake_of_ours_is_not_hidden(hub):
    hub.error = AttributeError("ours")
    with pytest.raises(AttributeError):
        fetch_config("someone/model")


@pytest.mark.parametrize("id", ["", "a/b/c", "../secret", "a b", "https://evil.example/x", "a/..", "x" * 300, "-a/b"])
def test_bad_ids_are_not_asked_for(hub, id):
    with pytest.raises(InputError) as caught:
        fetch_config(id)
    assert caught.value.problems[0].code == "bad-hub-id"
    assert hub.asked == []


def test_a_large_file_is_not_downloaded(hub):
    hub.size = 10**9
    with pytest.raises(InputError) as caught:
        fetch_config("someone/model")
    assert caught.value.problems[0].code == "too-large"


def test_a_file_that_is_larger_than_was_said(hub):
    hub.text = "{" + " " * (2**21 + 5) + "}"
    with pytest.raises(InputError) as caught:
        fetch_config("someone/model")
    assert caught.value.problems[0].code == "too-large"
