"""The index of recordings: an item of the store for each, found again under "Log or recording"."""

from pathlib import Path

from pages.ui import desk
from planner.telemetry.trace import Trace

FOLDER = Path.home() / ".gpu-planner" / "recordings"
_ENDING = ".gprec"


def index(path: Path, source: str, readings: int) -> None:
    """Put a finished recording into the index. Raises what `desk.told` says in words."""
    from planner.store.items import Kind

    content = {"file": path.name, "source": source[:200], "readings": readings}
    desk.desk().create(Kind.RECORDING, path.name, content)


def indexed() -> dict[str, str]:
    """File name -> source, newest first, of those whose file is here."""
    from planner.store.items import Kind

    found = desk.desk().items(Kind.RECORDING)
    named = {str(one.content.get("file", "")): str(one.content.get("source", "")) for one in found}
    return {name: source for name, source in named.items() if file_of(name) is not None}


def file_of(name: str) -> Path | None:
    """The file of an indexed name: in our folder and nowhere else, whatever an import says."""
    if Path(name).name != name or not name.endswith(_ENDING):
        return None
    path = FOLDER / name
    return path if path.is_file() and not path.is_symlink() else None


def opened(name: str) -> Trace | None:
    """The recording's trace. Raises `NotARecording`."""
    from planner.telemetry.recording import read_recording

    path = file_of(name)
    if path is None:
        return None
    with path.open("rb") as file:
        return read_recording(file)
