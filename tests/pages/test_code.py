"""The Check code page without a browser."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.code.listing import _html
from pages.ui.code.markdown import as_markdown
from pages.ui.text import text_in
from pages.ui.words import code_check as words
from planner.code_check.catalogue import RULES
from planner.code_check.check import check
from planner.commands.code_words import RULES as COMMAND_RULES
from planner.commands.main import main
from tests.pages.test_monitor import opened

HOSTILE = (
    'import torch\nx = "</code><script>alert(1)</script>"\nfor b in d:\n    m(b.cuda()).backward()\n    b.item()\n'
)


def opened_with(code: str, language: str = "en") -> AppTest:
    app = opened("pages/code.py", language)
    return app.text_area(key="gp-code-text").set_value(code).run()


def shown(app: AppTest) -> str:
    return "".join(str(one.proto.body) for one in app.main if one.type == "html") + "".join(
        str(one.proto.body) for one in app.get("html")
    )


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_example_is_checked_and_priced(language: str) -> None:
    app = opened("pages/code.py", language)
    app.button(key="gp-code-example").click().run()
    assert not app.exception
    assert not app.error
    page = shown(app)
    assert words.title(text_in(language), "leak.kept-graph").split("'")[0] in page
    assert 'id="gp-line-11"' in page
    assert "parallel.data-parallel" in page


def test_a_repair_goes_into_the_plan() -> None:
    app = opened("pages/code.py")
    app.session_state["plan.chosen"] = {"task": "train", "model": "openai-community/gpt2", "precision": "fp32"}
    app.button(key="gp-code-example").click().run()
    app.button(key="gp-code-apply-precision.none").click().run()
    assert not app.exception
    assert app.session_state["plan.chosen"]["precision"] == "amp-bf16"


def test_code_is_shown_as_text() -> None:
    app = opened_with(HOSTILE)
    assert not app.exception
    assert "<script>alert" not in shown(app)
    assert "&lt;script&gt;" in _html(text_in("en"), check(HOSTILE))


def test_what_is_no_code_gets_a_sentence() -> None:
    app = opened_with("x = = 3")
    assert "not valid Python" in app.error[0].value
    assert not app.exception


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_rule_has_words(language: str) -> None:
    text = text_in(language)
    for id in RULES:
        assert words.title(text, id)
        assert words.reason(text, id)
    assert COMMAND_RULES.keys() == RULES.keys()
    if language == "en":
        assert all((words.title(text, id), words.reason(text, id)) == COMMAND_RULES[id] for id in RULES)


def test_markdown_holds_every_finding() -> None:
    report = check(HOSTILE)
    page = as_markdown(text_in("en"), report)
    assert all(f"`{one.id}`" in page for one in report.findings)


def test_the_command_prints_and_answers_by_its_status(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(HOSTILE.replace("b.item()", "torch.cuda.empty_cache()"))
    good.write_text("print(1)\n")
    assert main(["check-code", str(good)]) == 0
    assert main(["check-code", str(bad)]) == 1
    assert "sync.empty-cache" in capsys.readouterr().out
    assert main(["check-code", "--json", str(bad)]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed[0]["findings"][0]["line"] == 5
    assert main(["check-code", str(tmp_path / "none.py")]) == 2
    assert "No such file" in capsys.readouterr().err
