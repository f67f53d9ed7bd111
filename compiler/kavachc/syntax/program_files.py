"""The files of a program: the one that was named, and those that it reaches by `import` (spec 9)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag, Label
from kavachc.source import SourceFile
from kavachc.syntax import ast
from kavachc.syntax.loader import load
from kavachc.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """`modules` begin with the file that was named; each other stands where it is first imported, depth first.

    `imports` are, for each file, its imports with what they lead to; those in `incomplete` have one that leads nowhere.
    """

    modules: list[ast.Module] = field(default_factory=list)
    imports: dict[SourceFile, list[tuple[ast.Import, ast.Module]]] = field(default_factory=dict)
    incomplete: set[SourceFile] = field(default_factory=set)
    # Where each file lies, as the operating system finds it.
    paths: list[str] = field(default_factory=list)


def alone(module: ast.Module) -> ProgramFiles:
    """A program of one file."""
    return ProgramFiles([module], {module.file: []}, {module.file} if module.lacks_names else set())


def load_program(path: str, bag: DiagnosticBag) -> ProgramFiles:
    """Reads and parses the program that begins at `path`; what is wrong with its files and their syntax is reported."""
    files = ProgramFiles()
    file = load(path, bag)
    if file is not None:
        _Loading(files, bag).enter(file, path)
    return files


class _Loading:
    def __init__(self, files: ProgramFiles, bag: DiagnosticBag) -> None:
        self._files = files
        self._bag = bag
        # By the file's real path, so that two ways to one file are one; None for what could not be read.
        self._known: dict[str, ast.Module | None] = {}
        # The files that are being read, from the first on, by real path.
        self._open: list[tuple[str, SourceFile]] = []

    def enter(self, file: SourceFile, path: str) -> ast.Module:
        """Parse `file`, found at `path`, and then what it imports."""
        real = os.path.realpath(path)
        module = parse(file, self._bag)
        self._known[real] = module
        self._files.modules.append(module)
        self._files.paths.append(path)
        self._files.imports[file] = []
        self._open.append((real, file))
        first: dict[str, ast.Import] = {}
        for written in module.imports:
            found = self._import(written, file, path, first)
            if found is not None:
                self._files.imports[file].append((written, found))
        if module.lacks_names:
            self._files.incomplete.add(file)
        self._open.pop()
        return module

    def _import(
        self, written: ast.Import, importer: SourceFile, path: str, first: dict[str, ast.Import]
    ) -> ast.Module | None:
        if not written.path:
            load("", self._bag, "", written.span)
            self._files.incomplete.add(importer)
            return None
        folder = os.path.dirname(path)
        target = os.path.join(folder, written.path)
        shown = os.path.normpath(os.path.join(os.path.dirname(importer.path), written.path))
        real = os.path.realpath(target) if "\0" not in target else target
        if real in first:
            labels = (Label(first[real].span, "first imported here"),)
            self._bag.report(codes.IMPORTED_TWICE, written.span, path=shown, labels=labels)
            return None
        first[real] = written
        open_files = [item for item, _ in self._open]
        if real in open_files:
            ring = [file.path for _, file in self._open[open_files.index(real) :]]
            text = " -> ".join([*ring, ring[0]])
            self._bag.report(codes.IMPORT_CYCLE, written.span, ring=text)
            self._files.incomplete.add(importer)
            return None
        if real not in self._known:
            self._known[real] = None
            file = load(target, self._bag, shown, written.span)
            if file is not None:
                return self.enter(file, target)
        if self._known[real] is None:
            self._files.incomplete.add(importer)
        return self._known[real]
