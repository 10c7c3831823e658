"""The command line: exit status, JSON, and one bad file among many."""

import json

import pytest

from planner.commands.main import main

TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def run(capsys, *arguments):
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_status_tells_the_verdict(capsys):
    assert run(capsys, "estimate", "--model", "transformer-8b", "--gpu", "rtx-4090", "--micro-batch-size", "64")[0] == 1
    assert run(capsys, "estimate", "--model", "transformer-1b", "--gpu", "h100-sxm5-80gb")[0] == 0


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--gpus", "0"], "gpus must be from 1"),
        (["--gpu", "rtx-9999"], "rtx-9999"),
        (["--model", "no-such"], "no-such"),
        (["--gpus", "8", "--tensor-parallel", "3"], "tensor_parallel 3"),
        (["--precision", "bf17"], "choose one of"),
        (["nowhere.json"], "nowhere.json"),
        (["?gpus=two"], "'two'"),
    ],
)
def test_bad_input_is_status_2_and_says_what(capsys, flags, named):
    status, out, err = run(capsys, "estimate", *flags)
    assert status == 2
    assert out == ""
    assert named in err
    assert "Traceback" not in err


def test_a_plan_file_a_link_and_flags_say_the_same(capsys, tmp_path):
    flags = ["--model", "Qwen/Qwen3-8B", "--gpu", "rtx-4090", "--method", "qlora"]
    status, by_flags, _ = run(capsys, "estimate", *flags, "--json")
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(json.loads(by_flags)["plan"]))
    link = "http://127.0.0.1:8501/?lang=ar&model=Qwen%2FQwen3-8B&gpu=rtx-4090&method=qlora"
    for source in (str(file), link):
        assert run(capsys, "estimate", source, "--json") == (status, by_flags, "")


def test_json_parts_add_up(capsys):
    _, out, _ = run(capsys, "estimate", "--model", "Qwen/Qwen3-8B", "--gpu", "a100-sxm4-80gb", "--json")
    memory = json.loads(out)["memory"]
    assert sum(part["value"] for part in memory["parts"]) == pytest.approx(memory["required_bytes"], rel=1e-6)
    assert max(memory["phases"].values()) == memory["allocated_bytes"]
    assert all(part["formula"] and part["source"] for part in memory["parts"])


def test_model_describes_files_and_survives_a_bad_one(capsys, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(TINY))
    bad.write_bytes(b"\xff\xfe{")
    status, out, _ = run(capsys, "model", str(bad), str(good), str(tmp_path / "none"), "--json", "--context", "10")
    assert status == 2
    broken, whole, missing = json.loads(out)
    assert broken["status"] == missing["status"] == "error"
    assert broken["message"]
    layer = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64
    assert whole["total_parameters"] == 2 * 1000 * 64 + 2 * layer + 64
    assert whole["kv_bytes_per_token"] == 2 * 2 * 64 * 2
    assert whole["kv_bytes_at_context"] == 10 * whole["kv_bytes_per_token"]


def test_listings(capsys):
    status, out, _ = run(capsys, "gpus", "h100", "--json")
    assert status == 0
    assert "h100-sxm5-80gb" in [gpu["id"] for gpu in json.loads(out)]
    status, out, _ = run(capsys, "models", "qwen3", "--task", "causal-lm", "--json")
    assert status == 0
    assert "Qwen/Qwen3-8B" in [model["id"] for model in json.loads(out)]


@pytest.mark.parametrize("command", [[], ["estimate"], ["model"], ["gpus"], ["models"]])
def test_help_tells_units(capsys, command):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert any(unit in text for unit in ("bytes", "GiB", "billions"))


def test_the_store_goes_out_and_in(capsys, tmp_path, monkeypatch):
    from planner.store.items import Kind
    from planner.store.store import open_store

    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "one"))
    assert "one" in run(capsys, "store", "path")[1]
    store = open_store()
    store.local_desk().create(Kind.PLAN, "Mine", {"gpus": 2})
    store.close()
    file = tmp_path / "all.json"
    assert run(capsys, "store", "export", str(file))[0] == 0
    assert json.loads(run(capsys, "store", "export")[1])["items"][0]["name"] == "Mine"
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "two"))
    assert run(capsys, "store", "import", str(file))[1] == "1 added, 0 here already\n"
    assert run(capsys, "store", "import", str(file))[1] == "0 added, 1 here already\n"
    for bad in (b"{", b'{"format": "gpu-planner-store", "version": 9, "items": []}'):
        file.write_bytes(bad)
        status, _, err = run(capsys, "store", "import", str(file))
        assert status == 2
        assert err.startswith("error: ")
    assert run(capsys, "store", "import", str(tmp_path / "none"))[0] == 2
