"""What a program declares at its top level, as the checker finds it out step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES, BUILTINS, NAMESPACES
from kavachc.semantics.typed_ast import (
    Agent,
    Constant,
    Effect,
    Expr,
    Function,
    Implementation,
    Local,
    Test,
)
from kavachc.semantics.types import (
    BOOL,
    DURATION,
    ERROR,
    FLOAT,
    INSTANT,
    INT,
    STRING,
    AgentType,
    CapabilityMethod,
    CapabilityType,
    FieldRule,
    FunctionShape,
    FunctionType,
    NominalType,
    PrimitiveType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
    declared,
)
from kavachc.semantics.wording import near_miss
from kavachc.source import SourceFile, Span
from kavachc.syntax import ast

PRIMITIVES: dict[str, PrimitiveType] = {
    str(primitive): primitive for primitive in (INT, FLOAT, BOOL, STRING, DURATION, INSTANT, ERROR)
}
BUILTIN_FUNCTIONS = tuple(row.name for row in BUILTINS if row.owner is None)
BUILT_IN_NAMES = frozenset((*PRIMITIVES, "Task", "ask", *BUILTIN_FUNCTIONS, *BUILTIN_CAPABILITIES, *NAMESPACES))

Callee = Function | CapabilityMethod | FunctionShape


@dataclass(frozen=True, slots=True)
class Use:
    """A capability that a body uses itself, and where."""

    effect: Effect
    span: Span


@dataclass(frozen=True, slots=True)
class Edge:
    """A call in a body. `carries_effects`: the caller has the callee's effects (not for handlers and capability
    methods, whose effects are their own, and not for function values, whose effects are those of whoever made them).
    `runs_now`: the caller waits for its end (not for `spawn`, and not where the function only becomes a value).
    `is_promised`: it becomes a value of a type that says what it uses, which so is its callers' too."""

    callee: Callee
    span: Span
    carries_effects: bool
    runs_now: bool
    is_promised: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """A function given, at `span`, where a function type says what it may use."""

    function: Function
    type: FunctionType
    span: Span


@dataclass(frozen=True, slots=True)
class GenericCall:
    """A call of a generic function in a body, with what the function's type parameters stand for."""

    callee: Function
    type_arguments: tuple[Type, ...]
    span: Span


@dataclass(slots=True)
class Facts:
    """What a body does that matters to the whole program; collected while it is checked, read by `effects.py`.

    `acts` are things that a constant or a rule may not do although they use no capability: (what, where). `asks` are
    the types that are asked for, and where, `jsons` those that are written as JSON or read.
    """

    uses: list[Use] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    constants: list[tuple[Constant, Span]] = field(default_factory=list)
    acts: list[tuple[str, Span]] = field(default_factory=list)
    waits: bool = False
    calls_of_generics: list[GenericCall] = field(default_factory=list)
    asks: list[tuple[Type, Span]] = field(default_factory=list)
    jsons: list[tuple[Type, Span]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ConstantEntry:
    """A constant before its initialiser is checked (`state` says how far it is) and after."""

    declaration: ast.ConstDeclaration
    constant: Constant
    state: str = "untouched"


@dataclass(eq=False, slots=True)
class DefaultEntry:
    """A field's default before and after it is checked; `facts` go to every body that fills it in."""

    owner: str
    declaration: ast.Field
    type: Type
    type_parameters: tuple[TypeVariable, ...]
    state: str = "untouched"
    value: Expr | None = None
    facts: Facts = field(default_factory=Facts)


@dataclass(eq=False, slots=True)
class Library:
    """What a program has seen of `library.kav`: nothing until `library.py` opens it. `methods` are what it offers,
    `waiting` the functions that nothing has called yet, so that their bodies are not checked."""

    view: World | None = None
    methods: list[Function] = field(default_factory=list)
    declarations: dict[Function, ast.Function] = field(default_factory=dict)
    waiting: dict[Function, ast.Function] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A field's rule and how it was written; its function has no body until it is checked (`rules.py`). `field` is the
    key of its default."""

    rule: FieldRule
    declaration: ast.Field
    field: tuple[RecordType | SumType, int | None, int]


@dataclass(slots=True)
class World:
    """Everything at the top level, as one file sees it: the names of types, functions and constants, which share one
    name space, are the file's own, those that it imports, and the prelude's. All else is the whole program's, and is
    the same object in the views of all files."""

    module: ast.Module
    bag: DiagnosticBag
    spans: dict[str, Span] = field(default_factory=dict)
    types: dict[str, NominalType] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, ConstantEntry] = field(default_factory=dict)
    # The files that this one imports.
    imported: list[ast.Module] = field(default_factory=list)
    # Names of which nothing is known, since syntax errors hide what declares them; with `lacks_names`, so are all that
    # are not known otherwise.
    spoiled: frozenset[str] = frozenset()
    lacks_names: bool = False
    # The whole program's, from here on.
    views: dict[SourceFile, World] = field(default_factory=dict)
    prelude_types: dict[str, NominalType] = field(default_factory=dict)
    all_types: list[NominalType] = field(default_factory=list)
    all_constants: list[ConstantEntry] = field(default_factory=list)
    agents: dict[AgentType, Agent] = field(default_factory=dict)
    agent_declarations: dict[AgentType, ast.AgentDeclaration] = field(default_factory=dict)
    methods: dict[RecordType | SumType, dict[str, Function]] = field(default_factory=dict)
    implementations: dict[tuple[RecordType, CapabilityType], Implementation] = field(default_factory=dict)
    # (record or sum, variant's index or None, field's index) -> its default.
    defaults: dict[tuple[RecordType | SumType, int | None, int], DefaultEntry] = field(default_factory=dict)
    rules: list[RuleEntry] = field(default_factory=list)
    # Every function, method, handler and test with what it was written as, in source order.
    bodies: list[tuple[Function, ast.Function]] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    facts: dict[Function | Constant, Facts] = field(default_factory=dict)
    # Every application of a generic type that was written, and where.
    applied: list[tuple[RecordType | SumType, Span]] = field(default_factory=list)
    # The errors of function types, with where they are written: looked at when all types are known.
    error_types: list[tuple[Type, ast.TypeExpression]] = field(default_factory=list)
    # What function types say with `uses`, by its place, looked at likewise; what was given to such types; and the
    # functions that names of bodies hold which do not change.
    uses_written: dict[Span, tuple[ast.CapabilityReference, ...]] = field(default_factory=dict)
    given: list[Given] = field(default_factory=list)
    functions_in: dict[Local, Function] = field(default_factory=dict)
    # The types of keys that were written, looked at likewise.
    map_keys: list[tuple[Type, Span]] = field(default_factory=list)
    closures: list[Function] = field(default_factory=list)
    library: Library = field(default_factory=Library)
    # Every kind of function value that the program makes or calls, with the functions that become such values.
    shapes: dict[tuple[int, bool | None], FunctionShape] = field(default_factory=dict)
    valued: dict[FunctionShape, list[Function]] = field(default_factory=dict)

    @property
    def prelude_file(self) -> SourceFile:
        return next(iter(self.views))

    def is_of_library(self, span: Span) -> bool:
        """Whether it is written in `library.kav`."""
        return self.library.view is not None and span.file is self.library.view.module.file

    def view(self, module: ast.Module) -> World:
        """A new view, which knows the names that this one does."""
        made = replace(
            self,
            module=module,
            spans={},
            types=dict(self.types),
            functions=dict(self.functions),
            constants=dict(self.constants),
            imported=[],
            spoiled=module.spoiled,
        )
        self.views[module.file] = made
        return made

    def at(self, span: Span) -> World:
        """What the file of `span` sees."""
        return self.views[span.file]

    def files(self) -> list[World]:
        """The views of the program's files; that of the file that was named first."""
        return [view for view in list(self.views.values())[1:] if view is not self.library.view]

    @property
    def library_file(self) -> SourceFile | None:
        """The file of the library's functions, once it is read."""
        return None if self.library.view is None else self.library.view.module.file

    def want(self, function: Function) -> None:
        """Something calls the function, or makes a value of it: if it is the library's, its body is to be checked."""
        declaration = self.library.waiting.pop(function, None)
        if declaration is not None:
            self.bodies.append((function, declaration))

    def is_spoiled(self, name: str) -> bool:
        """Whether a name that is not known here may be that of something with a syntax error: it was reported."""
        return name in self.spoiled or self.lacks_names

    def help_for_name(self, name: str, known: Iterable[str]) -> str | None:
        """What to do about a name that is not known here: it may be another file's, or misspelt."""
        for module in self.imported:
            if name not in module.public and name in (ast.declared_name(item).text for item in module.declarations):
                return f"`{name}` is declared in {module.file.path} but is not `pub`"
        for view in self.files():
            if name in view.module.public and view is not self:
                return f"it is declared in {view.module.file.path}: import that file"
        return near_miss(name, known)

    def names(self) -> Iterator[str]:
        """Everything that a near miss could have meant at the top level."""
        yield from self.spans
        yield from self.prelude_types
        yield from BUILT_IN_NAMES

    def methods_of(self, type_: RecordType | SumType) -> dict[str, Function]:
        """The methods of a type, by name; those of its declaration, for an application of a generic one."""
        return self.methods.get(declared(type_), {})

    def shape(self, parameter_count: int, error: Type | None) -> FunctionShape:
        """The one shape of function values with so many parameters that fail with `error`."""
        key = (parameter_count, None if isinstance(error, TypeVariable) else error is not None)
        if key not in self.shapes:
            self.shapes[key] = FunctionShape(*key)
        return self.shapes[key]

    def note_value(self, facts: Facts, function: Function, span: Span, is_promised: bool = False) -> None:
        """The function becomes a value: its effects are those of the body that makes it one, whose facts these are."""
        facts.edges.append(Edge(function, span, carries_effects=True, runs_now=False, is_promised=is_promised))
        errors = (None, ERROR) if isinstance(function.error, TypeVariable) else (function.error,)
        for error in errors:
            shape = self.shape(len(function.parameters), error)
            self.valued.setdefault(shape, []).append(function)

    def sum(self, name: str) -> SumType:
        """A sum of the prelude."""
        found = self.prelude_types[name]
        assert isinstance(found, SumType)
        return found

    def record(self, name: str) -> RecordType:
        """A record of the prelude."""
        found = self.prelude_types[name]
        assert isinstance(found, RecordType)
        return found

    def variant_owner(self, name: str, wanted: Type | None = None) -> SumType | None:
        """A sum that has a variant `name`, for help with a variant written without its type: what the place wants if
        that has it, else one of the user's, else one of the prelude's."""
        own = [found for found in self.types.values() if found not in self.prelude_types.values()]
        for found in (wanted, *own, *self.prelude_types.values()):
            if isinstance(found, SumType) and found.variant_index(name) is not None:
                return declared(found)
        return None
