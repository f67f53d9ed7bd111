"""What is allowed and yet hardly meant: found in the typed tree of a program without mistakes.

A name that begins with `_` is one that nobody needs, and is never warned about. Methods and handlers belong to their
type or agent, and closures to what takes them: their parameters, and whether anyone calls them, are no matter here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag, Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.builtin_row import Builtin
from kavachc.semantics.conversions import same_type
from kavachc.semantics.types import NEVER, NOTHING, CapabilityMethod, FieldRule, FunctionShape, FunctionType, Type
from kavachc.semantics.wording import single_spaced
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast
from kavachc.syntax.program_files import ProgramFiles

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def warn(program: typed.Program, files: ProgramFiles, bag: DiagnosticBag) -> None:
    """Report the warnings of `program`, whose source is `files`, in the order of their places."""
    found = DiagnosticBag()
    modules = files.modules
    order = {module.file: number for number, module in enumerate(modules)}
    own = [function for function in program.functions if function.span.file in order]
    own += [test.function for test in program.tests]
    plain = {item.signature.name.span for item in _declarations(modules) if isinstance(item, ast.Function)}
    public = {(module.file, name) for module in modules for name in module.public}
    used: set[typed.Function] = set()
    for function in own:
        walk = _Walk(found)
        walk.function(function)
        used |= walk.functions - {function}
        if function.span in plain:
            walk.report_parameters(function)
    outside = _Walk(found)
    for constant in program.constants:
        outside.visit(constant.value)
    for rule in program.rules:
        outside.function(rule.function)
    for agent in program.agents:
        outside.visit((agent.limits, agent.model_expression, agent.settings_expression))
    used |= outside.functions
    for function in own:
        # What a file offers to others need not be used here, and its `main` is for running it alone.
        offered = function.name == "main" or (function.span.file, function.name) in public
        asked = function.span in plain and not offered
        if asked and function not in used and _counts(function.name):
            found.report(codes.UNUSED_FUNCTION, function.span, name=function.name)
    _warn_promises(own, modules, found)
    _warn_imports(files, found)
    bag.items.extend(sorted(found.items, key=lambda item: _place(item, order)))


def _warn_imports(files: ProgramFiles, found: DiagnosticBag) -> None:
    """An import of which no name stands anywhere in the text of its file."""
    for file, imports in files.imports.items():
        words = set(_WORD.findall(file.text)) if imports else set()
        for written, module in imports:
            if words.isdisjoint(module.public):
                found.report(codes.UNUSED_IMPORT, written.span, path=written.path)


def _declarations(modules: Sequence[ast.Module]) -> Iterator[ast.Declaration]:
    for module in modules:
        yield from module.declarations


def _place(diagnostic: Diagnostic, order: Mapping[SourceFile, int]) -> tuple[int, int]:
    assert diagnostic.span is not None
    return order[diagnostic.span.file], diagnostic.span.start


def _counts(name: str) -> bool:
    return not name.startswith("_")


# What a node only points to, or what holds nothing of interest.
_LEAVES = (
    str,
    int,
    float,
    Span,
    Type,
    typed.Constant,
    typed.Agent,
    typed.Effect,
    Builtin,
    CapabilityMethod,
    FieldRule,
    FunctionShape,
    typed.Function,
    typed.Local,
)


_PLAIN_FIELDS = ("span", "type", "operator", "operator_span")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that may hold other nodes."""
    if not is_dataclass(kind) or issubclass(kind, _LEAVES):
        return ()
    return tuple(item.name for item in fields(kind) if item.name not in _PLAIN_FIELDS)


def _parts(node: Any) -> list[Any]:
    """What a node is made of, in the order of evaluation."""
    if isinstance(node, tuple):
        return list(node)
    kind: Any = type(node)
    return [getattr(node, name) for name in _field_names(kind)]


class _Walk:
    """Goes over trees in the order of their source, with the names that are known at each place."""

    def __init__(self, bag: DiagnosticBag) -> None:
        self._bag = bag
        self._scopes: list[dict[str, typed.Local]] = []
        self._read: set[typed.Local] = set()
        self.functions: set[typed.Function] = set()

    def function(self, function: typed.Function) -> None:
        self._scopes.append({parameter.name: parameter for parameter in function.parameters})
        declared = _Declared()
        if function.body is not None:
            self.visit(function.body)
            declared.visit(function.body)
        self._scopes.pop()
        for local, help_text in declared.locals.items():
            if local not in self._read and _counts(local.name):
                self._bag.report(codes.UNUSED_LOCAL, local.span, name=local.name, help=help_text)

    def report_parameters(self, function: typed.Function) -> None:
        for parameter in function.parameters:
            if parameter not in self._read and _counts(parameter.name):
                self._bag.report(codes.UNUSED_PARAMETER, parameter.span, name=parameter.name)

    def visit(self, node: Any) -> None:
        match node:
            case typed.Function():
                self.functions.add(node)
                return
            case typed.LocalGet() | typed.Place():
                self._read.add(node.local)
            case typed.Block():
                self._block(node)
                return
            case typed.Declare():
                self.visit(node.value)
                self._declare(node)
                return
            case typed.Closure():
                self._closure(node)
                return
        for part in _parts(node):
            self.visit(part)

    def _closure(self, node: typed.Closure) -> None:
        """Its body is checked as the function's own that it stands in; its names are its own."""
        self.visit(node.captures)
        outside, self._scopes = self._scopes, []
        self.visit(node.function.body)
        self._scopes = outside

    def _block(self, block: typed.Block) -> None:
        self._scopes.append({})
        leaves: typed.Statement | None = None
        reported = False
        for statement in block.statements:
            if leaves is not None and not reported:
                reported = True
                label = Label(leaves.span, "this never goes on")
                self._bag.report(codes.UNREACHABLE, statement.span, labels=(label,))
            self.visit(statement)
            if isinstance(statement, typed.ExpressionStatement):
                self._warn_dropped(statement.expression)
            if _never_ends(statement):
                leaves = statement
        self.visit(block.result)
        self._scopes.pop()

    def _warn_dropped(self, node: typed.Expr) -> None:
        """What only computes, as a statement: a copy that is taken for a change, or `==` for `=`."""
        if any(_does_more(item) for item in _nodes(node)):
            return
        if isinstance(node, typed.Comparison):
            left, right = node.left, single_spaced(node.right.span.text, 30)
            is_meant = node.operator == "==" and isinstance(left, typed.LocalGet) and left.local.mutable
            help_text = f"to change it, write `{left.span.text} = {right}`" if is_meant else "use it, or leave it out"
            self._bag.report(codes.DROPPED_VALUE, node.span, name=single_spaced(node.span.text, 40), help=help_text)
        elif (name := _name_of_method(node)) is not None:
            first = node.arguments[0] if isinstance(node, typed.CallBuiltin | typed.CallFunction) else None
            help_text = "use it, or leave it out"
            if isinstance(first, typed.LocalGet) and first.local.mutable and same_type(first.type, node.type):
                help_text = f"it gives a copy: write `{first.local.name} = {single_spaced(node.span.text, 40)}`"
            self._bag.report(codes.DROPPED_VALUE, node.span, name=name, help=help_text)

    def _declare(self, node: typed.Declare) -> None:
        local = node.local
        if not self._scopes:
            return
        for scope in reversed(self._scopes[:-1]):
            first = scope.get(local.name)
            if first is not None:
                if same_type(first.type, local.type) and _counts(local.name) and first not in _Reads(node.value):
                    label = Label(first.span, "the one outside")
                    self._bag.report(codes.SHADOWED, local.span, name=local.name, labels=(label,))
                break
        self._scopes[-1][local.name] = local


class _Declared:
    """The names that a body declares, those of its closures too, other than their parameters; with the help for each
    that nobody uses, where that is not the usual one."""

    def __init__(self) -> None:
        self.locals: dict[typed.Local, str | None] = {}

    def visit(self, node: Any) -> None:
        for item in _nodes(node):
            match item:
                case typed.Declare():
                    self._add(item.local, None)
                case typed.BindPattern() | typed.ForRange() | typed.ForEach():
                    self._add(item.local, "write `_` instead")
                case typed.ArrayPattern():
                    self._add(item.rest, "write `..` alone")
                case typed.Catch():
                    self._add(item.binder, "write `_` instead")

    def _add(self, local: typed.Local | None, help_text: str | None) -> None:
        # A name of the compiler's own stands where no name is written.
        if local is not None and local.span.text == local.name:
            self.locals[local] = help_text


class _Reads:
    """Which names a tree reads."""

    def __init__(self, tree: typed.Expr) -> None:
        self._locals = {item.local for item in _nodes(tree) if isinstance(item, typed.LocalGet)}

    def __contains__(self, local: typed.Local) -> bool:
        return local in self._locals


def _nodes(tree: Any) -> Iterator[Any]:
    """Every node of a tree, the bodies of its closures included."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(_parts(node))
        if isinstance(node, typed.Closure):
            pending.append(node.function.body)


def _does_more(node: Any) -> bool:
    """Whether a node can do anything but give its value, or is more than is looked into here."""
    match node:
        case typed.CallBuiltin(builtin=row):
            return row.effect is not None or row.waits or row.mutates or row.error is not None
        case typed.CallFunction():
            return not node.function.span.file.is_library or node.function.error is not None
        case typed.Expr():
            return isinstance(node, _DOING_MORE) or isinstance(node.type, FunctionType)
    return False


_DOING_MORE = (
    typed.CallCapability,
    typed.CallHandler,
    typed.CallValue,
    typed.CallMutatingBuiltin,
    typed.MutArgument,
    typed.Ask,
    typed.Spawn,
    typed.Block,
    typed.Try,
    typed.Catch,
    typed.Fail,
    typed.Return,
)


def _name_of_method(node: typed.Expr) -> str | None:
    """Of the built-in or library method that is called for its value; the compiler's own guards are none."""
    if node.type is NOTHING:
        return None
    if isinstance(node, typed.CallBuiltin):
        return node.builtin.name if node.arguments and not node.builtin.key.startswith("guard.") else None
    return node.function.name.rpartition(".")[2] if isinstance(node, typed.CallFunction) else None


def _never_ends(statement: typed.Statement) -> bool:
    match statement:
        case typed.ExpressionStatement():
            return statement.expression.type is NEVER
        case typed.Declare() | typed.TakeApart():
            return statement.value.type is NEVER
        case typed.While(condition=typed.BoolValue(value=True)):
            return not _breaks(statement.body)
    return False


def _breaks(body: typed.Block) -> bool:
    """Whether a `break` leaves the loop whose body this is."""
    pending: list[Any] = [body]
    while pending:
        node = pending.pop()
        match node:
            case typed.Break():
                return True
            case typed.While():
                pending.append(node.condition)
            case typed.ForRange():
                pending.extend((node.start, node.end))
            case typed.ForEach():
                pending.append(node.array)
            case _:
                pending.extend(_parts(node))
    return False


def _warn_promises(functions: list[typed.Function], modules: Sequence[ast.Module], bag: DiagnosticBag) -> None:
    """`uses` that promises what is never used."""
    effects = {function.span: function.listed for function in functions}
    for item in _declarations(modules):
        if isinstance(item, ast.RecordDeclaration | ast.SumDeclaration):
            declared = item.methods
        else:
            declared = (item,) if isinstance(item, ast.Function) else ()
        for declaration in declared:
            used = effects.get(declaration.signature.name.span, frozenset())
            for reference in declaration.signature.uses or ():
                if not any(_covers(reference, effect) for effect in used):
                    name = declaration.signature.name.text
                    bag.report(codes.NEEDLESS_USES, reference.span, name=name, effect=reference.span.text)


def _covers(reference: ast.CapabilityReference, effect: typed.Effect) -> bool:
    method = reference.method.text if reference.method is not None else None
    return reference.capability.text == effect.capability and method in (None, effect.method)
