"""The Monitor and Environment pages without a browser, and their words."""

import io
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import desk
from pages.ui.accuracy import measurements
from pages.ui.monitor import pollers, recorder, recordings, source
from pages.ui.text import text_in
from pages.ui.words import diagnosis, environment, telemetry
from planner.commands.environment import ADVICE
from planner.environment.check import State
from planner.environment.checks import check_all
from planner.environment.facts import Facts
from planner.plan.plan import resolve, to_json
from planner.store.items import Kind
from planner.telemetry.alerts import ALERTS
from planner.telemetry.diagnosis.diagnose import diagnose
from planner.telemetry.diagnosis.verdict import Confidence
from planner.telemetry.poller import Poller
from planner.telemetry.recording import read_recording
from planner.telemetry.sample import METRICS, Absent, Device, Missing, Reading, Sample

APP = str(Path(__file__).parents[2] / "app.py")


def opened(page: str, language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["lang"] = language
    app.run()
    for key, value in query.items():
        app.query_params[key] = value
    return app.switch_page(page).run()


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("chosen", [source.LOCAL, source.SERVER, source.FILE, source.DEMO])
def test_every_source_draws(language: str, chosen: str) -> None:
    app = opened("pages/monitor.py", language)
    app.session_state["gp-monitor-source"] = chosen
    app.run()
    assert not app.exception
    assert not app.error


def test_the_demo_says_that_it_is_a_replay_and_finds_what_is_in_it() -> None:
    app = opened("pages/monitor.py")
    app.session_state["gp-monitor-source"] = source.DEMO
    app.run()
    assert "Replay of a recording" in app.info[0].value
    assert "not this machine" in app.info[0].value
    app.button(key="gp-replay-button").click().run()
    assert not app.exception
    assert app.session_state["gp-replay-playing"]
    app.button(key="gp-replay-button").click().run()
    assert not app.session_state["gp-replay-playing"]


def test_the_demo_recording_names_its_source_and_shows_two_kinds_of_load() -> None:
    trace = source._demo()
    assert "nanoGPT" in trace.source
    start = trace.times[0]
    first = diagnose(trace.between(start, start + 240))
    assert first.main is not None
    assert first.main.rule == "healthy"
    whole = diagnose(trace)
    assert whole.main is not None
    assert whole.main.rule == "busy-at-low-power"


def test_a_typed_address_that_is_none_is_refused() -> None:
    app = opened("pages/monitor.py")
    app.session_state["gp-monitor-source"] = source.SERVER
    app.run()
    app.text_input(key="gp-monitor-server").set_value("file:///etc/passwd").run()
    assert app.error


def test_a_file_is_read_as_a_log_or_a_recording() -> None:
    log = b"timestamp,index,utilization.gpu [%],power.draw [W]\n2026/01/01 00:00:00,0,5 %,70 W\n"
    trace, _ = source._read(log, "log.csv")
    assert len(trace.times) == 1
    recording = (Path(APP).parent / "assets" / "demo" / "h100x8.gprec").read_bytes()
    assert len(source._read(recording, "x")[0].times) > 300


class Made:
    name = "made"

    def __init__(self) -> None:
        self.time = 0.0

    def read(self) -> Reading:
        self.time += 1
        device = Device(uuid="GPU-1", name="H100", index=0)
        return Reading(time=self.time, samples=(Sample(device=device, values={"power": self.time}),))


def test_recording_starts_stops_and_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "FOLDER", tmp_path / "recordings")
    poller = Poller(Made(), interval=60)
    running = recorder._Running(poller)
    for _ in range(5):
        poller.poll()
    running.stop()
    trace = read_recording(io.BytesIO(running.path.read_bytes()))
    assert list(trace.values("GPU-1", "power"))[-5:] == list(range(int(trace.times[-1]) - 4, int(trace.times[-1]) + 1))
    assert poller.on_event == []


def test_credentials_go_to_their_own_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"prometheus": {"address": "https://mine/", "authorization": "Bearer x"}}
    monkeypatch.setattr(pollers.st, "secrets", known)
    assert pollers._headers("https://mine") == {"Authorization": "Bearer x"}
    assert pollers._headers("https://other") == {}


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_environment_page_draws(language: str) -> None:
    app = opened("pages/environment.py", language)
    assert not app.exception
    assert not app.error
    app.selectbox(key="gp-explore-card").set_value(app.selectbox(key="gp-explore-card").options[0])
    app.run()
    assert not app.exception


@pytest.mark.parametrize("language", ["en", "ar"])
def test_everything_has_its_words(language: str) -> None:
    text = text_in(language)
    assert all(telemetry.missing(text, one) for one in Missing)
    assert all(telemetry.absent_sentence(text, one) for one in Absent)
    assert all(diagnosis.alert_name(text, one.id) != one.id for one in ALERTS)
    assert all(diagnosis.confidence(text, one) for one in Confidence)
    found = diagnose(source._demo())
    assert all(diagnosis.verdict_name(text, one.rule) != one.rule for one in found.verdicts)
    assert all(environment.check_name(text, one.id) != one.id for one in check_all(Facts()))
    assert all(environment.advice(text, id) != id for id in ADVICE)
    assert all(environment.state_name(text, one) for one in State)
    for name in METRICS:
        assert telemetry.metric(text, name, 1.0)


def test_every_advice_of_the_rules_has_its_words() -> None:
    text = text_in("en")
    folder = Path(APP).parent / "planner" / "telemetry" / "diagnosis"
    source_text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    import re

    ids = set()
    for found in re.findall(r"advice=\(([^)]*)\)|advice = \(([^)]*)\)", source_text):
        ids |= set(re.findall(r'"([\w-]+)"', "".join(found)))
    assert len(ids) > 20
    assert [id for id in sorted(ids) if diagnosis.advice(text, id) == id] == []


def test_the_command_lines_two_lists_of_advice_agree() -> None:
    text = text_in("en")
    assert {id: environment.advice(text, id) for id in ADVICE} == ADVICE


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_environment_page_measures_and_can_be_cancelled(language: str) -> None:
    app = opened("pages/environment.py", language)
    app.button(key="gp-benchmark-start").click().run()
    assert not app.exception
    running = app.session_state["gp-benchmark-run"]
    app.button(key="gp-benchmark-cancel").click().run()
    running.wait(10)
    app.run()
    assert running.finished
    assert not app.exception
    assert app.button(key="gp-benchmark-start")


def test_a_recording_is_indexed_and_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_store: None
) -> None:
    monkeypatch.setattr(recordings, "FOLDER", tmp_path / "recordings")
    poller = Poller(Made(), interval=60)
    running = recorder._Running(poller)
    for _ in range(5):
        poller.poll()
    running.stop()
    recordings.index(running.path, "made", running.recorder.readings)
    assert recordings.indexed() == {running.path.name: "made"}
    app = opened("pages/monitor.py")
    app.session_state["gp-monitor-source"] = source.FILE
    app.run()
    app.selectbox(key="gp-monitor-indexed").select(running.path.name).run()
    assert not app.exception
    assert not app.error
    running.path.unlink()
    assert recordings.indexed() == {}


@pytest.mark.parametrize("name", ["../secret.gprec", "/etc/passwd", "x.txt", "", "..gprec/../a.gprec"])
def test_an_indexed_name_leads_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(recordings, "FOLDER", tmp_path / "recordings")
    (tmp_path / "recordings").mkdir()
    (tmp_path / "secret.gprec").write_bytes(b"x")
    (tmp_path / "recordings" / "x.txt").write_bytes(b"x")
    assert recordings.file_of(name) is None


def test_plan_against_measurement_is_kept_in_the_store(empty_store: None) -> None:
    app = opened("pages/monitor.py")
    app.session_state["gp-monitor-source"] = source.DEMO
    app.session_state["gp-against"] = True
    app.run()
    app.number_input(key="gp-against-step").set_value(2.0).run()
    app.button(key="gp-against-keep").click().run()
    assert not app.exception
    kept = {one.quantity: one for one in measurements.every()}
    assert kept["seconds"].measured == 2.0
    assert kept["power"].by == "monitor"
    assert kept["tokens_per_second"].measured > 0


def test_a_saved_plan_can_be_held_against_the_measurement(empty_store: None) -> None:
    plan = resolve({"task": "train", "model": "openai-community/gpt2", "micro_batch_size": 2})
    desk.desk().create(Kind.PLAN, "small", dict(to_json(plan)))
    app = opened("pages/monitor.py")
    app.session_state["gp-monitor-source"] = source.DEMO
    app.session_state["gp-against"] = True
    app.run()
    app.selectbox(key="gp-against-plan").select(desk.desk().items(Kind.PLAN)[0].id).run()
    app.number_input(key="gp-against-step").set_value(0.1).run()
    app.button(key="gp-against-keep").click().run()
    assert not app.exception
    assert all("GPT-2" in one.title or "gpt2" in one.title for one in measurements.every())
    assert measurements.every()
