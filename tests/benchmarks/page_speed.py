"""Server time of a rerun of the Plan page, as a multiple of an empty app's under the same configuration.

Speaks Streamlit's own protocol over the websocket: sends a rerun with another link, and waits for the run's end.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[2]
PAUSE = 0.15  # reruns without a pause show the operating system's delayed acknowledgements instead
RUNS = 25
EMPTY = """
import streamlit as st
st.write(st.query_params.get("micro_batch_size", "1"))
"""
FRAME = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import streamlit as st
from pages.ui import shell
text = shell.open_run()
page = st.navigation([st.Page(lambda: st.write(st.query_params.get("micro_batch_size", "1")), title="Empty")])
shell.draw_frame(text)
with shell.running(text):
    page.run()
"""


def serve(script: Path, port: int) -> subprocess.Popen[bytes]:
    """A server of `script` with the repository's configuration, ready to answer."""
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(150):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).read()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise RuntimeError("the server did not start")


async def reruns(port: int, queries: list[str]) -> tuple[float, list[float]]:
    """Seconds of the first run, and of each rerun with the next query."""
    url = f"ws://127.0.0.1:{port}/_stcore/stream"
    async with websockets.connect(url, max_size=None, subprotocols=["streamlit"]) as socket:
        first = await rerun(socket, queries[0])
        times = []
        for query in queries:
            await asyncio.sleep(PAUSE)
            times.append(await rerun(socket, query))
    return first, times


async def rerun(socket, query: str) -> float:
    """One run of the script, to its last message."""
    message = BackMsg()
    message.rerun_script.query_string = query
    start = time.perf_counter()
    await socket.send(message.SerializeToString())
    while True:
        answer = ForwardMsg()
        answer.ParseFromString(await socket.recv())
        if answer.WhichOneof("type") == "script_finished":
            return time.perf_counter() - start


def measure(script: Path, port: int) -> tuple[float, list[float]]:
    process = serve(script, port)
    try:
        queries = [f"micro_batch_size={2 + step}" for step in range(RUNS)]  # no plan twice
        asyncio.run(reruns(port, ["", "gpus=2"] * 3))  # another visitor came before: imports are done
        return asyncio.run(reruns(port, queries))
    finally:
        process.kill()


def main() -> None:
    """Print medians and their ratios."""
    medians = {}
    with tempfile.TemporaryDirectory() as folder:
        for port, (name, text) in enumerate({"an empty app": EMPTY, "our frame, empty page": FRAME}.items(), 8931):
            script = Path(folder) / f"{port}.py"
            script.write_text(text)
            medians[name] = statistics.median(measure(script, port)[1])
    first, page = measure(ROOT / "app.py", 8933)
    medians["the Plan page"] = statistics.median(page)
    for name, seconds in medians.items():
        print(f"rerun of {name:<24}{seconds * 1e3:6.1f} ms   x{seconds / medians['an empty app']:.1f} (target 4)")
    slow = sorted(page)[int(0.95 * RUNS)]
    print(f"p95 of the Plan page {slow * 1e3:.1f} ms; first run of a session {first * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
