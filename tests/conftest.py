"""Nothing that a test saves goes where the user's own things are."""

import os
import tempfile

import pytest

_FOLDER = tempfile.TemporaryDirectory(prefix="gpu-planner")
os.environ["GPU_PLANNER_DATA"] = _FOLDER.name  # before any server or page starts
os.environ.pop("DATABASE_URL", None)


@pytest.fixture
def empty_store(tmp_path, monkeypatch):
    """A store of this test alone, also behind the pages."""
    from pages.ui import desk

    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path))
    desk.store.clear()
    yield
    desk.store.clear()
