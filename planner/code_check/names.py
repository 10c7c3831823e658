"""What a name in the script means: imports and their aliases, and words inside names."""

import ast
import re
from functools import lru_cache

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def imports_of(tree: ast.Module) -> dict[str, str]:
    """Each imported name -> the full name it stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                root = one.name.split(".")[0]
                found[one.asname or root] = one.name if one.asname else root
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            for one in node.names:
                found[one.asname or one.name] = f"{module}.{one.name}" if module else one.name
    return found


def dotted(node: ast.AST, imports: dict[str, str]) -> str:
    """A chain of attributes as a full name; what is not a name in it is "?" ("?.backward")."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(imports.get(node.id, node.id) if isinstance(node, ast.Name) else "?")
    return ".".join(reversed(parts))


def last(node: ast.AST) -> str:
    """The last part of a name: of `self.model` it is "model"."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=4096)
def words(name: str) -> frozenset[str]:
    """The words that a name is made of: `numTrainSteps` and `num_train_steps` alike."""
    return frozenset(part.lower() for part in _PART.findall(name))


def says(name: str, *meanings: str) -> bool:
    """Whether a name has one of these words."""
    return not words(name).isdisjoint(meanings)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def open_ended(call: ast.Call) -> bool:
    """Whether arguments come from elsewhere (`**kwargs`), so that a missing one may be among them."""
    return any(one.arg is None for one in call.keywords)


def lacks(call: ast.Call, *names: str) -> bool:
    """Whether none of these keyword arguments is given, as far as can be seen."""
    return not open_ended(call) and all(keyword(call, name) is None for name in names)


def constant(node: ast.expr | None) -> object:
    """The value of a literal; `...` where the expression is none (None is a literal)."""
    return node.value if isinstance(node, ast.Constant) else ...
