"""The compiler's parts import one another only in the order of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "compiler" / "kavachc"
# Part -> the parts that it may import. The leaves are modules that know nothing of the rest.
LEAVES = {"source", "errors", "options", "progress"}
ORDER: dict[str, set[str]] = {
    "source": set(),
    "errors": set(),
    "options": set(),
    "progress": set(),
    "diagnostics": LEAVES,
    "syntax": LEAVES | {"diagnostics"},
    "semantics": LEAVES | {"diagnostics", "syntax"},
    "bindings": LEAVES,
    "state": LEAVES,
    "audit": LEAVES,
    "ledger": LEAVES | {"state"},
    "interpreter": LEAVES | {"diagnostics", "semantics", "bindings", "state", "audit"},
    "mock": LEAVES | {"interpreter"},
    "ir": LEAVES,
    "lower": LEAVES | {"semantics", "ir"},
    "passes": LEAVES | {"ir"},
    "backend": LEAVES | {"ir", "bindings"},
}
# These see everything: the pipeline and what stands on it.
TOP = {
    "driver",
    "cli",
    "streams",
    "engines",
    "conform",
    "golden",
    "dump",
    "testing",
    "processes",
    "library_page",
    "__init__",
}


def imported_parts(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "kavachc":
                names = [f"kavachc.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("kavachc.")}
    return found


def test_parts_import_only_what_comes_before() -> None:
    wrong: list[str] = []
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in TOP:
            continue
        assert part in ORDER, f"{path}: a new part needs a row in ORDER"
        wrong.extend(f"{path.name} imports {name}" for name in imported_parts(path) - ORDER[part] - {part})
    assert not wrong


def test_the_check_sees_a_wrong_import(tmp_path: Path) -> None:
    canary = tmp_path / "canary.py"
    canary.write_text("def f():\n    from kavachc.backend import link\n")
    assert imported_parts(canary) == {"backend"}
