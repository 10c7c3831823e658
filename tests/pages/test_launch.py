"""Launch, import and the out-of-memory helper on the Plan page, without a browser."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.launch.export import archive
from pages.ui.text import text_in
from pages.ui.words import launch as launch_words
from pages.ui.words import oom as oom_words
from pages.ui.words.problems import PROBLEMS
from planner.launch.frameworks import FRAMEWORKS, export
from planner.plan.plan import parse
from planner.plan.table import BY_ID

ROOT = Path(__file__).parents[2]
APP = str(ROOT / "app.py")


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["lang"] = language
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def drawn(app: AppTest) -> str:
    """What is drawn of ours, without the style sheet."""
    return re.sub(r"<style>.*?</style>", "", shown(app), flags=re.DOTALL)


def source(*folders: str) -> str:
    return "\n".join(path.read_text("utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py"))


def codes(pattern: str, *folders: str) -> set[str]:
    found = set(re.findall(pattern, source(*folders)))
    assert found
    return found


def test_every_code_has_its_sentence() -> None:
    assert codes(r'\.assume\(\s*"([a-z-]+)"', "planner/launch") == set(launch_words.ASSUMPTIONS)
    assert codes(r'Notice\("([a-z-]+)"', "planner/launch") == set(launch_words.NOTES)
    unread = codes(r'"(no-word|bad-value|unknown-model|model-incomplete|layers-on-host)"', "planner/launch")
    assert {*unread, "not-planned"} == set(launch_words.UNREAD)
    problems = codes(r'(?:Problem|fail)\(\s*"([a-z-]+)"', "planner/launch", "planner/oom")
    assert problems <= set(PROBLEMS)
    places = set(re.findall(r'\("(\w+)", r"', source("planner/oom"))) & {
        "optimizer",
        "backward",
        "loss",
        "cache",
        "graphs",
        "loading",
        "attention",
    }
    said = {code.removeprefix("oom-") for code in oom_words.FINDINGS}
    assert codes(r'_notice\("([a-z-]+)"', "planner/oom") | {f"where-{place}" for place in {*places, "forward"}} == said


@pytest.mark.parametrize("language", ["en", "ar"])
def test_notes_read_as_sentences(language: str) -> None:
    text = text_in(language)
    plan = parse({"task": "train", "gpus": "16", "optimizer": "muon", "pipeline_parallel": "2"})[0]
    notes = [launch_words.note(text, notice) for notice in export(plan, "hugging-face").notes]
    assert len(notes) >= 2
    assert not any(field in note for field in BY_ID for note in notes if "_" in field)


def draws(part: str, language: str = "en") -> AppTest:
    """One part alone: the test runner knows no dialogs that stay open."""

    def script(part: str, language: str) -> None:
        import streamlit as st

        from pages.ui.launch import export, import_, oom
        from pages.ui.text import text_in
        from planner.estimate import estimate
        from planner.plan.plan import parse
        from planner.plan.request import request_of

        text, plan = text_in(language), parse({"gpu": "rtx-4090"})[0]
        if part == "export":
            export.draw_export(text, plan)
        elif part == "import":
            import_.draw_import(text, plan)
        else:
            oom._draw(text, plan, estimate(request_of(plan)))
        st.json(st.session_state.get("plan.chosen", {}))

    app = AppTest.from_function(script, default_timeout=60, args=(part, language)).run()
    assert not app.exception
    return app


def test_launch_opens_only_when_asked_and_shows_files() -> None:
    app = run()
    assert "gp-code" not in drawn(app)
    app.button("launch-open").click().run()
    assert not app.exception
    assert "TrainingArguments" in shown(app)
    assert "python train.py" in shown(app)


def test_another_framework_and_a_scheduler() -> None:
    app = draws("export")
    app.selectbox("launch-framework").set_value("axolotl").run()
    app.selectbox("launch-wrapper").set_value("slurm").run()
    assert "base_model" in shown(app)
    assert "#SBATCH" in shown(app)
    assert not app.exception


def test_a_model_that_no_framework_launches_has_no_button() -> None:
    app = run(model="timm/resnet50", task="train")
    assert not [button for button in app.button if button.key == "launch-open"]


def test_import_reads_shows_and_applies() -> None:
    app = draws("import")
    command = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 32 --enable-lora"
    app.text_area("import-text").set_value(command).run()
    assert "Read as vLLM" in shown(app)
    assert "enable_lora" in shown(app)
    app.button("import-apply").click().run()
    assert not app.exception
    chosen = app.session_state["plan.chosen"]
    assert (chosen["model"], chosen["concurrency"], chosen["gpu"]) == ("Qwen/Qwen3-32B", 32, "rtx-4090")


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize(
    "pasted", ["hello", "{", "<script>alert(1)</script>: x", "vllm serve '<img src=x>' --zzz '<u>'"]
)
def test_bad_pastes_are_answered_in_words(pasted: str, language: str) -> None:
    app = draws("import", language)
    app.text_area("import-text").set_value(pasted).run()
    assert not app.exception
    assert app.error or pasted.startswith("vllm")
    assert "<img src" not in shown(app)
    assert "<u>" not in shown(app)


def test_a_log_is_set_beside_the_plan() -> None:
    app = draws("oom")
    app.text_area("oom-text").set_value(
        "CUDA out of memory. Tried to allocate 2.25 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already allocated; "
        "1.00 GiB free; 22.00 GiB reserved in total by PyTorch)"
    ).run()
    assert not app.exception
    assert "At least" in shown(app)
    assert "What to change first" in shown(app)
    assert [button for button in app.button if button.key.startswith("oom-change-")]


def test_the_archive_holds_every_file_and_the_command() -> None:
    plan = parse({"task": "serve", "gpus": "2"})[0]
    launch = export(plan, "vllm", "slurm")
    names = zipfile.ZipFile(io.BytesIO(archive(launch))).namelist()
    assert names == ["job.sbatch", "serve.sh", "run.sh"]


def test_every_framework_has_a_name() -> None:
    assert len({framework.name for framework in FRAMEWORKS.values()}) == len(FRAMEWORKS)
