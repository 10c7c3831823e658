"""The report, the probe of this machine, and the command line."""

import json
import sys

import pytest

from planner.commands.main import main
from planner.environment import probe
from planner.environment.check import Check, State
from planner.environment.checks import check_all
from planner.environment.facts import Facts
from planner.environment.report import as_mapping, as_text, redacted


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("GPU-1234abcd-1234-1234-1234-123456789012", "GPU-…"),
        ("/home/somebody/venv/bin/python", "~/venv/bin/python"),
        (r"C:\Users\Some Body\x", r"~\x"),
        ("HF_TOKEN=hf_abc rest", "HF_TOKEN=… rest"),
        ("http://10.1.2.3:90/x", "http://…:90/x"),
        ("9.10.2.21", "9.10.2.21"),
        ("driver 590.48.01, CUDA 12.8", "driver 590.48.01, CUDA 12.8"),
    ],
)
def test_what_tells_of_a_person_is_taken_out(text, clean):
    assert redacted(text) == clean


def test_the_report_holds_every_check():
    facts = Facts(system="Linux", python="/home/me/python")
    checks = (Check(id="a.b", state=State.PROBLEM, found="/home/me/x", expected="y", advice="disk"),)
    assert as_mapping(facts, checks)["checks"][0]["found"] == "~/x"
    assert as_mapping(facts, checks, redact=False)["python"] == "/home/me/python"
    assert "~/x  (expected: y)" in as_text(facts, checks)


def test_this_machine_can_be_looked_at():
    facts = probe.gather(frameworks=False)
    assert facts.system
    assert facts.ram
    assert facts.disk_free
    assert len(check_all(facts)) > 20


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19", "535.104.05"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build", "590.48.01"),
        ("", ""),
    ],
)
def test_the_kernel_modules_version(text, version):
    assert probe._module_version(text) == version


def test_a_probe_is_bounded_in_time_and_survives_anything(monkeypatch):
    monkeypatch.setitem(probe._PROBES, "torch", "import time; time.sleep(30)")
    assert probe.probe_framework(sys.executable, "torch", 0.3) == {"error": "timeout"}
    monkeypatch.setitem(probe._PROBES, "torch", "raise ImportError('libcudart.so.12: cannot open')")
    assert "libcudart" in probe.probe_framework(sys.executable, "torch")["error"]
    monkeypatch.setitem(probe._PROBES, "torch", "print('noise'); print('{\"version\": \"2\"}')")
    assert probe.probe_framework(sys.executable, "torch") == {"version": "2"}
    assert probe.probe_framework("/no/such/python", "torch") == {"error": "no-python"}


def test_doctor_prints_json(capsys):
    status = main(["doctor", "--json", "--quick", "--redact"])
    found = json.loads(capsys.readouterr().out)
    assert status in (0, 1)
    assert {one["id"] for one in found["checks"]} >= {"gpu.present", "driver.library", "torch.arch"}
    assert main(["doctor", "--quick"]) == status
    assert "gpu.present" in capsys.readouterr().out


def test_monitor_judges_a_log(tmp_path, capsys):
    rows = [
        f"2026/01/01 00:{t // 60:02}:{t % 60:02}.000, {gpu}, 100 %, 390.0 W, 700.0 W"
        for t in range(90)
        for gpu in (0, 1)
    ]
    header = "timestamp, index, utilization.gpu [%], power.draw [W], power.limit [W]"
    log = tmp_path / "log.csv"
    log.write_text("\n".join([header, *rows]))
    assert main(["monitor", str(log)]) == 0
    assert "busy-at-low-power (undecided" in capsys.readouterr().out
    assert main(["monitor", str(log), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["verdicts"]) > 20


def test_monitor_says_what_is_wrong(tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.write_text("nothing here")
    assert main(["monitor", str(empty)]) == 2
    assert main(["monitor", str(tmp_path / "none")]) == 2
    assert main(["monitor", "--server", "ftp://x"]) == 2
    assert capsys.readouterr().err.count("\n") == 3
