"""`launch` and `read` on the command line."""

import io
import json
import sys

import pytest

from planner.commands.main import main

VLLM = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --max-num-seqs 8 --zzz 1"


def test_launch_prints_files_and_command(capsys):
    assert main(["launch", "--framework", "axolotl", "--model", "Qwen/Qwen3-8B"]) == 0
    out = capsys.readouterr().out
    assert "base_model: Qwen/Qwen3-8B" in out or 'base_model: "Qwen/Qwen3-8B"' in out
    assert out.rstrip().endswith("axolotl train config.yaml")


def test_launch_writes_files(tmp_path, capsys):
    arguments = ["launch", "--framework", "vllm", "--task", "serve", "--gpus", "2", "--wrapper", "slurm"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"job.sbatch", "serve.sh"}
    assert main(["read", *(str(path) for path in (tmp_path / "out").iterdir())]) in (0, 1)
    assert "tensor_parallel" in capsys.readouterr().out


def test_launch_as_json_tells_what_cannot_be_said(capsys):
    assert main(["launch", "--framework", "hugging-face", "--optimizer", "muon", "--method", "full", "--json"]) == 0
    launch = json.loads(capsys.readouterr().out)
    assert launch["files"]["train.py"]
    assert {"code": "not-expressed", "field": "optimizer", "value": "muon"} in launch["notes"]


def test_read_from_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(VLLM.encode())))
    assert main(["read", "-", "--gpu", "h100-sxm5-80gb", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["frameworks"] == ["vllm"]
    assert read["read"]["concurrency"] == 8
    assert read["unread"] == [{"option": "zzz", "value": "1", "code": "not-planned"}]
    assert read["fits"] is True


def test_read_takes_a_log_too(tmp_path, capsys):
    log = tmp_path / "log"
    log.write_text(
        "CUDA out of memory. Tried to allocate 2.25 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already allocated; "
        "1.00 GiB free; 22.00 GiB reserved in total by PyTorch)"
    )
    assert main(["read", str(log)]) == 1
    assert "oom-short-by" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["launch", "--framework", "nothing"], "not known"),
        (["launch", "--framework", "vllm"], "cannot run this plan"),
        (["read", "/no/such/file"], "No such file"),
    ],
)
def test_bad_input_is_status_2_with_a_sentence(arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_an_impossible_configuration_is_bad_input(tmp_path, capsys):
    file = tmp_path / "command"
    file.write_text("vllm serve Qwen/Qwen3-8B --tensor-parallel-size 7")
    assert main(["read", str(file)]) == 2
    assert "attention heads" in capsys.readouterr().err
