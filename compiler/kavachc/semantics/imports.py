"""What files know of one another: the names that an `import` brings, and what a program has once (spec 9)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics.types import AgentType, NominalType
from kavachc.semantics.world import World
from kavachc.source import Span
from kavachc.syntax import ast
from kavachc.syntax.program_files import ProgramFiles


def mark_equal_names(world: World) -> None:
    """Gives each type whose name an earlier file has, too, a mark of its own. An agent is refused instead."""
    taken: dict[str, NominalType] = {}
    for type_ in world.all_types:
        first = taken.get(type_.name)
        if first is not None and isinstance(type_, AgentType) and isinstance(first, AgentType):
            labels = (Label(first.span, "first declared here"),)
            path = type_.span.file.path
            world.bag.report(codes.AGENT_TWICE, type_.span, name=type_.name, path=path, labels=labels)
        while str(type_) in taken:
            type_.mark += type_.span.file.mark
        taken[str(type_)] = type_


def bring_imports(world: World, files: ProgramFiles) -> None:
    """Makes the `pub` names of the imported files known, types and constants at once; a name that two bring, or one
    that the file has itself, is an error."""
    own_spans = {file: dict(view.spans) for file, view in world.views.items()}
    for view in world.files():
        own = own_spans[view.module.file]
        view.lacks_names = view.module.file in files.incomplete
        brought: dict[str, tuple[Span, ast.Module]] = {}
        for written, module in files.imports[view.module.file]:
            view.imported.append(module)
            view.spoiled |= module.spoiled
            for name in [item for item in own_spans[module.file] if item in module.public]:
                if name in own:
                    _clash(view, written, module, name, own[name], "this file declares it, too")
                elif name in brought:
                    span, other = brought[name]
                    _clash(view, written, module, name, span, f"so does {other.file.path}")
                else:
                    brought[name] = written.span, module
        for name, (_, module) in brought.items():
            source = world.views[module.file]
            view.spans[name] = own_spans[module.file][name]
            if name in source.types:
                view.types[name] = source.types[name]
            if name in source.constants:
                view.constants[name] = source.constants[name]


def bring_functions(world: World, files: ProgramFiles) -> None:
    """Makes the functions of the prelude and the `pub` ones of the imported files known."""
    for view in world.files():
        for name, function in world.functions.items():
            view.functions.setdefault(name, function)
        for _, module in files.imports[view.module.file]:
            source = world.views[module.file]
            for name in module.public:
                function_ = source.functions.get(name)
                if function_ is not None and function_.span.file is module.file and name in view.spans:
                    view.functions.setdefault(name, function_)


def _clash(view: World, written: ast.Import, module: ast.Module, name: str, other: Span, text: str) -> None:
    labels = (Label(other, "the other one"),)
    view.bag.report(codes.IMPORT_CLASH, written.span, path=module.file.path, name=name, other=text, labels=labels)
