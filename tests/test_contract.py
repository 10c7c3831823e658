"""The walls of the house: the planner knows no Streamlit and does no I/O of its own; pages hold no arithmetic."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLANNER = sorted((ROOT / "planner").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", PLANNER, ids=lambda path: str(path.relative_to(ROOT)))
def test_planner_imports_no_interface(path):
    roots = {name.split(".")[0] for name in imported(ast.parse(path.read_text("utf-8")))}
    assert not roots & {"streamlit", "plotly", "pages", "pandas"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_hold_no_arithmetic_and_are_short(path):
    source = path.read_text("utf-8")
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.BinOp)]
    assert not [node.lineno for node in found if isinstance(node.op, ARITHMETIC)]
    assert len(source.splitlines()) <= 120


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_page_starts_with_the_guard(path):
    if path.name == "__init__.py":
        pytest.skip("not a page")
    statements = [node for node in ast.parse(path.read_text("utf-8")).body if not isinstance(node, ast.Expr)]
    assert ast.unparse(statements[0]) == "from pages.ui import shell"
    assert ast.unparse(statements[1]) == "text = shell.page_text()"


def test_only_the_tables_of_the_planner_are_read_from_disk():
    """Files are opened in the catalogues, by the store, and in the command line, which reads what the user names."""
    allowed = {"hardware/catalogue.py", "models/catalogue.py", "models/vision.py", "models/diffusion.py"}
    allowed |= {"environment/probe.py"}  # looks at the machine it runs on
    allowed |= {f"environment/benchmark/{name}.py" for name in ("run", "worker")}  # measure the machine they run on
    allowed |= {"telemetry/containers.py"}  # reads /proc of the processes on the GPUs
    allowed |= {"store/engine.py"}  # makes the folder of its database
    allowed |= {"models/readers/huggingface.py"}  # the Hub's client downloads to a file
    for path in PLANNER:
        name = str(path.relative_to(ROOT / "planner"))
        if name in allowed or name.startswith("commands/"):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert "open" not in calls, name
        assert not {"pathlib", "os", "shutil"} & set(imported(tree)), name


def test_importing_the_planner_pulls_in_nothing_heavy():
    heavy = ("streamlit", "pandas", "plotly", "huggingface_hub", "scipy", "sqlalchemy")
    code = (
        "import sys; import planner.estimate, planner.plan.plan; "
        f"print([module for module in {heavy} if module in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_repository_speaks_of_itself_alone():
    """No path of the workshop it was made in."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    for name in files:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".cfg"} and path.is_file() and path != Path(__file__):
            text = path.read_text("utf-8")
            assert "../shared" not in text, name
            assert "/work/" not in text, name
