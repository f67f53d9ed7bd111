"""The types of Kavach, as the checker, the interpreter and the lowering see them (spec 2).

Structural types (`ArrayType`, `OptionalType`, `TupleType`, `TaskType`) are equal when their parts are. Nominal types
(records, sums, agents, capabilities) are equal only to themselves; their parts are filled in after all names are
known, so that types may mention one another.

A generic record or sum is declared once, with `parameters`. What values have is an *application* of it, `Pair<Int, T>`:
an object of its own, one for each list of arguments (`apply`), so that applications too are equal only to themselves.

Two files may each have a type of one name: the text of the second one's then ends in a `mark`, `Order@bank.kav`. Values
show the bare name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar, cast

from kavachc.source import Span

if TYPE_CHECKING:
    from kavachc.semantics.typed_ast.declarations import Function
    from kavachc.semantics.typed_ast.expressions import Expr


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    name: str

    def __str__(self) -> str:
        return self.name


INT = PrimitiveType("Int")
FLOAT = PrimitiveType("Float")
BOOL = PrimitiveType("Bool")
STRING = PrimitiveType("String")
DURATION = PrimitiveType("Duration")
INSTANT = PrimitiveType("Instant")
NOTHING = PrimitiveType("()")
ERROR = PrimitiveType("Error")
# The type of an expression that never gives a value (`return`, `fail`): it fits wherever a value is wanted.
NEVER = PrimitiveType("never")
# The type of something already reported as wrong: it fits everywhere, so that one mistake gives one message.
UNKNOWN = PrimitiveType("unknown")


# The error of a closure whose body is to say what it fails with, if at all.
INFERRED = PrimitiveType("inferred")


@dataclass(frozen=True, slots=True)
class ArrayType:
    element: Type

    def __str__(self) -> str:
        return f"[{self.element}]"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """`T?`: `none` or a value."""

    element: Type

    def __str__(self) -> str:
        return f"{self.element}?"


@dataclass(frozen=True, slots=True)
class TupleType:
    """Of two elements or more."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class MapType:
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"[{self.key}: {self.value}]"


@dataclass(frozen=True, slots=True)
class TaskType:
    result: Type

    def __str__(self) -> str:
        return f"Task<{self.result}>"


@dataclass(frozen=True, slots=True)
class Effect:
    """A capability that a function uses; `method` is None for all of it, and for built-in ones."""

    capability: str
    method: str | None = None

    def __str__(self) -> str:
        return self.capability if self.method is None else f"{self.capability}.{self.method}"


# What a function type says that names what is no capability, which has been reported: it fits everywhere.
UNKNOWN_USES = (Effect("unknown"),)


@dataclass(frozen=True, slots=True)
class FunctionType:
    """Of a function value. `error` is None where it cannot fail. `uses` is what it may use at most, sorted and without
    what a whole capability covers; empty where nothing is said of it."""

    parameters: tuple[Type, ...]
    result: Type
    error: Type | None
    uses: tuple[Effect, ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(str(item) for item in self.parameters)
        return f"fn({inside}){ending_text(self.result, self.error, self.uses)}"


@dataclass(eq=False, slots=True)
class FunctionShape:
    """All function types with as many parameters and the same fallibility (None: either, as in a function that is
    generic in the error). Set by `effects.py`, over all functions
    that become values of such a type: `may_wait` when one of them may, `is_recursive` when one can reach itself."""

    parameter_count: int
    can_fail: bool | None
    may_wait: bool = False
    is_recursive: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class TypeVariable:
    """A type that a declaration, or a builtin's row (the element in `[T].push`), leaves open. Equal only to itself.

    `bounds` are what a declaration asks of it: `Eq`, `Ord`, `Key`, `Show`. With `Error` it stands for an error type, or
    for NEVER.
    """

    name: str
    bounds: tuple[str, ...] = ()
    span: Span | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False, slots=True)
class FieldRule:
    """The rule of a field, `age: Int where age >= 0`. `place` is the field's name with that of its type; `function`
    says whether the rule holds for a value of the field, and has the type parameters of the field's type. `default` is
    the field's, if it has one."""

    place: str
    text: str
    function: Function
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a record or a variant. Its default, if any, is known only to the checker."""

    name: str
    type: Type
    has_default: bool
    documentation: str | None
    span: Span
    rule: FieldRule | None = None


@dataclass(eq=False, slots=True)
class RecordType:
    """`parameters` are set in a generic declaration; `origin`, the declaration, and `arguments` in an application.

    `is_too_large`: an application of the declaration is written with more than TYPE_SIZE_MAX types. It has no fields,
    so that nothing larger follows from it, and `instances.py` reports the declaration.
    """

    name: str
    span: Span
    documentation: str | None
    _fields: list[FieldInfo] | None = None
    capabilities: list[CapabilityType] = field(default_factory=list)
    parameters: tuple[TypeVariable, ...] = ()
    arguments: tuple[Type, ...] = ()
    origin: RecordType | None = None
    applications: dict[tuple[Type, ...], RecordType] = field(default_factory=dict)
    is_too_large: bool = False
    mark: str = ""

    def __str__(self) -> str:
        return applied_name(self)

    @property
    def fields(self) -> list[FieldInfo]:
        """In an application, made when they are first asked for, since a type may hold applications of itself."""
        if self._fields is None:
            self._fields = [] if self.origin is None else _applied_fields(self.origin.fields, bindings_of(self))
        return self._fields

    @fields.setter
    def fields(self, fields: list[FieldInfo]) -> None:
        self._fields = fields

    def field_index(self, name: str) -> int | None:
        return next((index for index, item in enumerate(self.fields) if item.name == name), None)


def is_date(type_: Type) -> TypeGuard[RecordType]:
    """The prelude's `Date`, whose name no other type can have."""
    return isinstance(type_, RecordType) and type_.name == "Date"


@dataclass(frozen=True, slots=True)
class VariantInfo:
    """`hidden` are fields after the others that only the library knows: they are not shown, compared or given, and are
    0 where the runtime did not set them (spec 8.4.error-methods)."""

    name: str
    fields: tuple[FieldInfo, ...]
    documentation: str | None
    span: Span
    hidden: tuple[FieldInfo, ...] = ()


@dataclass(eq=False, slots=True)
class SumType:
    """Generic in the way of `RecordType`."""

    name: str
    span: Span
    documentation: str | None
    _variants: list[VariantInfo] | None = None
    _indices: dict[str, int] | None = None
    parameters: tuple[TypeVariable, ...] = ()
    arguments: tuple[Type, ...] = ()
    origin: SumType | None = None
    applications: dict[tuple[Type, ...], SumType] = field(default_factory=dict)
    is_too_large: bool = False
    mark: str = ""

    def __str__(self) -> str:
        return applied_name(self)

    @property
    def variants(self) -> list[VariantInfo]:
        """In an application, made when they are first asked for."""
        if self._variants is None:
            self._variants = []
            if self.origin is not None:
                bindings = bindings_of(self)
                self._variants = [
                    replace(item, fields=tuple(_applied_fields(item.fields, bindings))) for item in self.origin.variants
                ]
        return self._variants

    @variants.setter
    def variants(self, variants: list[VariantInfo]) -> None:
        self._variants, self._indices = variants, None

    def variant_index(self, name: str) -> int | None:
        """Of the first one that is called so."""
        if self._indices is None:
            self._indices = {item.name: index for index, item in reversed(list(enumerate(self.variants)))}
        return self._indices.get(name)


@dataclass(eq=False, slots=True)
class CapabilityMethod:
    """One method that a capability declares. `may_wait` and `is_recursive` are set by `effects.py`: some implementation
    may wait, or can reach itself, so that calls of the method count toward spec 4.depth."""

    name: str
    index: int
    parameter_names: tuple[str, ...]
    parameter_types: tuple[Type, ...]
    result: Type
    error: Type | None
    span: Span
    may_wait: bool = False
    is_recursive: bool = False


@dataclass(eq=False, slots=True)
class CapabilityType:
    name: str
    span: Span
    documentation: str | None
    methods: list[CapabilityMethod] = field(default_factory=list)
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.mark}"

    def method(self, name: str) -> CapabilityMethod | None:
        return next((item for item in self.methods if item.name == name), None)


@dataclass(eq=False, slots=True)
class AgentType:
    """The type of a started agent's handle."""

    name: str
    span: Span
    documentation: str | None
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.mark}"


NominalType: TypeAlias = RecordType | SumType | CapabilityType | AgentType
Type: TypeAlias = (
    PrimitiveType
    | ArrayType
    | MapType
    | OptionalType
    | TupleType
    | TaskType
    | FunctionType
    | TypeVariable
    | NominalType
)


def ending_text(result: Type | str | None, error: Type | str | None, uses: tuple[Effect, ...] = ()) -> str:
    """The end of a signature. A result that could take the error or the `uses` itself stands in parentheses."""
    is_open = isinstance(result, FunctionType) and not result.uses and (bool(uses) or result.error is None)
    shown = f"({result})" if is_open and (uses or error is not None) else result
    arrow = "" if result is None or str(result) == "()" else f" -> {shown}"
    promise = f" uses {', '.join(map(str, uses))}" if uses else ""
    return f"{arrow}{'' if error is None else f' ! {error}'}{promise}"


# Generic types. `parts` and `with_parts` alone know how types are made of others.

Bindings: TypeAlias = Mapping[TypeVariable, Type]
NO_BINDINGS: Bindings = {}
TYPE_SIZE_MAX = 1_000
GenericT = TypeVar("GenericT", bound=RecordType | SumType)


def parts(type_: Type) -> tuple[Type, ...]:
    """The types that `type_` is written with: an element, a result, type arguments."""
    if isinstance(type_, ArrayType | OptionalType):
        return (type_.element,)
    if isinstance(type_, TupleType):
        return type_.elements
    if isinstance(type_, MapType):
        return (type_.key, type_.value)
    if isinstance(type_, TaskType):
        return (type_.result,)
    if isinstance(type_, FunctionType):
        return (*type_.parameters, type_.result, *(() if type_.error is None else (type_.error,)))
    return type_.arguments if isinstance(type_, RecordType | SumType) else ()


def with_parts(type_: Type, new: tuple[Type, ...]) -> Type:
    """`type_` with `new` for its parts."""
    if isinstance(type_, TupleType):
        return TupleType(new)
    if isinstance(type_, FunctionType):
        count = len(type_.parameters)
        error = None if type_.error is None else error_or_none(new[count + 1])
        return FunctionType(new[:count], new[count], error, type_.uses)
    if isinstance(type_, ArrayType | MapType | OptionalType | TaskType):
        return type(type_)(*new)
    assert isinstance(type_, RecordType | SumType) and type_.origin is not None, f"{type_} has no parts"
    return apply(type_.origin, new)


def error_or_none(error: Type | None) -> Type | None:
    """The error of a function, where an error parameter may stand for NEVER: then it cannot fail."""
    return None if error is NEVER else error


def same_head(left: Type, right: Type) -> bool:
    """Whether the two are made in the same way, of perhaps different parts."""
    if isinstance(left, RecordType | SumType) and isinstance(right, RecordType | SumType):
        return declared(left) is declared(right)
    if isinstance(left, FunctionType) and isinstance(right, FunctionType):
        same_count = len(left.parameters) == len(right.parameters)
        same_uses = left.uses == right.uses or UNKNOWN_USES in (left.uses, right.uses)
        return same_count and same_uses and (left.error is None) == (right.error is None)
    structural = type(left) is type(right) and len(parts(left)) == len(parts(right)) > 0
    return structural or left == right


def declared(type_: GenericT) -> GenericT:
    """The declaration that a record or a sum is an application of, or is."""
    return type_ if type_.origin is None else cast(GenericT, type_.origin)


def apply(declaration: GenericT, arguments: tuple[Type, ...]) -> GenericT:
    """The one application of a generic declaration to these arguments."""
    assert len(arguments) == len(declaration.parameters) > 0, f"{declaration} is not applied to {len(arguments)} types"
    applications = cast(dict[tuple[Type, ...], GenericT], declaration.applications)
    found = applications.get(arguments)
    if found is None:
        found = type(declaration)(declaration.name, declaration.span, declaration.documentation)
        found.mark = declaration.mark
        found.arguments = arguments
        found.origin = declaration
        if is_too_large(found):
            declaration.is_too_large = True
            if isinstance(found, RecordType):
                found.fields = []
            else:
                found.variants = []
        applications[arguments] = found
    return found


def is_too_large(type_: Type) -> bool:
    """Whether more than TYPE_SIZE_MAX types stand in `type_`, each counted wherever it stands."""
    pending = [type_]
    for _ in range(TYPE_SIZE_MAX):
        if not pending:
            return False
        pending.extend(parts(pending.pop()))
    return True


def own_type(declaration: GenericT) -> GenericT:
    """The type of `self` in the methods of a declaration."""
    return apply(declaration, declaration.parameters) if declaration.parameters else declaration


def bindings_of(applied: RecordType | SumType) -> Bindings:
    """What the parameters of its declaration stand for in an application."""
    return dict(zip(declared(applied).parameters, applied.arguments, strict=False))


def substitute(type_: Type, bindings: Bindings) -> Type:
    """`type_` with what its variables stand for; those without a binding stay."""
    if isinstance(type_, TypeVariable):
        return bindings.get(type_, type_)
    old = parts(type_)
    if not old or not bindings:
        return type_
    new = tuple([substitute(part, bindings) for part in old])
    return type_ if new == old else with_parts(type_, new)


def variables(type_: Type) -> Iterator[TypeVariable]:
    """The variables in `type_`, repeated ones too."""
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TypeVariable):
            yield current
        pending.extend(reversed(parts(current)))


def is_open(type_: Type) -> bool:
    """Whether a variable stands anywhere in `type_`."""
    return next(variables(type_), None) is not None


def applied_name(type_: RecordType | SumType) -> str:
    """`Pair<Int, String>`; the bare name of what is not generic, and of a declaration."""
    name = f"{type_.name}{type_.mark}"
    return f"{name}<{', '.join(map(str, type_.arguments))}>" if type_.arguments else name


def _applied_fields(fields: Sequence[FieldInfo], bindings: Bindings) -> list[FieldInfo]:
    return [replace(item, type=substitute(item.type, bindings)) for item in fields]
