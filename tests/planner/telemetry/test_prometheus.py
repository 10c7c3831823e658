"""The fleet: against a real Prometheus where there is one, and against servers that misbehave."""

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from planner.telemetry import prometheus
from planner.telemetry.prometheus import PrometheusSource, ServerError, checked_address, http_get
from planner.telemetry.sample import Absent, Kind, Missing

from . import exporter

MIB = 2**20


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus here (Debian: apt install prometheus)")
    folder: Path = tmp_path_factory.mktemp("prometheus")
    scraped, port = free_port(), free_port()
    config = f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs: [{{job_name: gpus, static_configs: [{{targets: ["127.0.0.1:{scraped}"]}}]}}]
"""
    (folder / "prom.yml").write_text(config)
    source = subprocess.Popen([sys.executable, exporter.__file__, str(scraped)])
    running = subprocess.Popen(
        [
            program,
            f"--config.file={folder / 'prom.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 20
        while PrometheusSource(address).read().absent and time.monotonic() < deadline:
            time.sleep(0.2)
        yield address
    finally:
        for one in (running, source):
            one.terminate()
            one.wait(10)


def check(samples):
    by_uuid = {sample.device.uuid: sample for sample in samples}
    old, new, part = by_uuid["GPU-a"], by_uuid["GPU-b"], by_uuid["GPU-c/7"]
    assert (old.device.host, old.device.name, old.device.index) == ("node1", "NVIDIA H100", 0)
    assert (old.metric("utilization"), old.metric("sm_active"), old.metric("power")) == (0.97, 0.81, 640.5)
    assert old.metric("memory_total") == 80559 * MIB
    assert old.metric("temperature") is Missing.BLANK
    assert old.metric("energy") is Missing.BLANK
    assert (new.device.host, new.metric("utilization"), new.metric("power")) == ("node2", 0.5, 300.0)
    assert new.metric("tensor_active") == 0.25
    assert new.metric("temperature") is Missing.NOT_IN_SOURCE
    assert (part.device.kind, part.device.parent) == (Kind.MIG, "GPU-c")
    assert part.metric("utilization") is Missing.UNDER_MIG
    assert part.metric("engine_active") == 1.02
    assert by_uuid["GPU-c"].metric("utilization") is Missing.UNDER_MIG


def test_a_real_server_now_and_in_the_past(server):
    source = PrometheusSource(server)
    reading = source.read()
    assert abs(reading.time - time.time()) < 30
    check(reading.samples)
    time.sleep(2)
    trace = source.history(time.time() - 60, time.time())
    assert len(trace.times) >= 1
    assert trace.last("GPU-a", "power") == 640.5


def answer(series):
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": series}}).encode()


def parsed(text):
    """The exporter's text as the server would answer it."""
    series = []
    for line in text.splitlines():
        name, rest = line.split("{", 1)
        labels, value = rest.rsplit("} ", 1)
        metric = {"__name__": name} | {k: v.strip('"') for k, v in (one.split("=") for one in labels.split(","))}
        series.append({"metric": metric, "value": [1000.0, value]})
    return series


def test_old_and_new_names_blanks_and_instances():
    reading = PrometheusSource("http://x", lambda _: answer(parsed(exporter.OLD + exporter.NEW))).read()
    assert reading.time == 1000.0
    check(reading.samples)


@pytest.mark.parametrize(
    ("body", "absent"),
    [
        (b"<html>", Absent.BAD_ANSWER),
        (b"{}", Absent.BAD_ANSWER),
        (b'{"status":"error"}', Absent.BAD_ANSWER),
        (b'{"status":"success","data":{"result":7}}', Absent.BAD_ANSWER),
        (answer([]), Absent.NO_GPU),
        (answer([{"metric": {"__name__": "up"}, "value": [1, "1"]}]), Absent.NO_GPU),
        (answer([{"metric": 5}, 7]), Absent.NO_GPU),
    ],
)
def test_odd_answers_are_told_apart(body, absent):
    assert PrometheusSource("http://x", lambda _: body).read().absent is absent


class Odd(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/redirect"):
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
        elif self.path.startswith("/denied"):
            self.send_response(401)
            self.end_headers()
        else:  # never ends
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def odd():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/redirect", Absent.BAD_ANSWER), ("/denied", Absent.NO_PERMISSION), ("/endless", Absent.BAD_ANSWER)],
)
def test_redirects_refusals_and_endless_answers_end_it(odd, path, reason, monkeypatch):
    monkeypatch.setattr(prometheus, "MAXIMUM_BYTES", 2**20)
    with pytest.raises(ServerError) as caught:
        http_get(odd + path)
    assert caught.value.reason is reason


def test_nobody_there():
    assert PrometheusSource(f"http://127.0.0.1:{free_port()}").read().absent is Absent.UNREACHABLE


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" http://prom:9090/ ", "http://prom:9090"),
        ("https://host/base/?q=1#x", "https://host/base"),
        ("file:///etc/passwd", None),
        ("prom:9090", None),
        ("http://", None),
        ("http://host:99999999", None),
        ("", None),
    ],
)
def test_addresses(text, address):
    assert checked_address(text) == address
