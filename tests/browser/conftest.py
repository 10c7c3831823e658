"""A real server and a real browser. Without Chromium on the PATH these tests are skipped, and say so."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]

expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The browser of the system, with what it needs to run as root in a container and to stay off the network."""
    path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no browser on the PATH (looked for {', '.join(_BROWSERS)})")
    return {"executable_path": path, "args": _ARGUMENTS}


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Starts a Streamlit script, with further options, and gives its address; every server is stopped at the end."""
    servers: list[subprocess.Popen[bytes]] = []

    def start(script: Path, *options: str) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = (tmp_path_factory.mktemp("server") / "log").open("wb")
        command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), *options]
        server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        servers.append(server)
        _wait(f"http://127.0.0.1:{port}/_stcore/health", server)
        return f"http://127.0.0.1:{port}"

    yield start
    for server in servers:
        server.terminate()
        server.wait(10)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the server did not answer within 30 s")


@pytest.fixture(scope="session")
def app_url(serve: Callable[..., str]) -> str:
    """The dashboard."""
    return serve(ROOT / "app.py")


@pytest.fixture(scope="session")
def specimen_url(serve: Callable[..., str]) -> str:
    """The drawings and rows that pages are made of, on a page of their own (specimen/)."""
    return serve(ROOT / "tests" / "browser" / "specimen" / "app.py")
