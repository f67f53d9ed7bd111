"""Generic declarations: what bounds them, and trees that name no type parameters any more."""

from __future__ import annotations

from checking import errors_of, function_named, program_of
from kavachc.dump import dump
from kavachc.semantics.specialise import specialised
from kavachc.semantics.types import INT, RecordType, TypeVariable, apply, own_type, parts, substitute

PAIR = "type Pair<A, B> { first: A, second: B }\n"


def chain(length: int, step: str) -> str:
    """Functions that each call the next one by `step`."""
    functions = [f"fn f{index}<T>(x: T) {{ {step.format(next=index + 1)} }}" for index in range(length)]
    return "\n".join([PAIR, *functions, f"fn f{length}<T>(x: T) {{ }}", "fn main() { f0(1) }"])


def test_too_many_instances_are_refused() -> None:
    assert errors_of(chain(16, "f{next}([x]) f{next}(Pair(x, 1))".replace(") f", ")\nf"))) == [
        "36:13 the generic functions of this program are needed with too many types: more than 10_000"
    ]


def test_types_that_double_are_refused() -> None:
    assert errors_of(chain(45, "f{next}(Pair(x, x))")) == [
        "49:13 `f9` is needed with a type too large to handle: more than 1000 types in one"
    ]


def test_types_that_hold_doubled_types_are_refused() -> None:
    types = [f"type D{index}<T> {{ x: [D{index + 1}<Pair<T, T>>] }}" for index in range(45)]
    source = "\n".join([PAIR, *types, "type D45<T> { x: T }", "fn main() {\n    print(D0<Int>([]))\n}"])
    assert errors_of(source) == ["1:6 `Pair` is needed with a type too large to handle: more than 1000 types in one"]


def test_an_application_is_one_type() -> None:
    program = program_of(PAIR + "fn f(x: Pair<Int, Bool>) -> Pair<Int, Bool> { x }")
    function = function_named(program, "f")
    applied = function.result
    assert function.parameters[0].type is applied
    assert isinstance(applied, RecordType)
    assert str(applied) == "Pair<Int, Bool>"
    assert [str(field.type) for field in applied.fields] == ["Int", "Bool"]
    (declaration,) = program.generic_types
    assert applied.origin is declaration
    own = own_type(declaration)
    assert substitute(own, dict(zip(declaration.parameters, parts(applied), strict=True))) is applied
    assert apply(declaration, parts(applied)) is applied


def test_a_specialised_tree_holds_no_variables() -> None:
    program = program_of(
        PAIR
        + """
        fn pairs<T: Show>(xs: [T], n: Int) -> [Pair<T, String>] {
            const all: [Pair<T, String>] = [Pair(xs[0], "{xs[0]}")]
            if n == 0 { all } else { pairs(xs, n - 1) }
        }
        """
    )
    function = function_named(program, "pairs")
    (variable,) = function.type_parameters
    assert isinstance(variable, TypeVariable)
    made = specialised(function, (INT,))
    assert made.name == "pairs<Int>"
    assert made.is_recursive
    before, after = dump(function.body), dump(made.body)
    assert all(written in before for written in ("<T,", "=T\n", "[T]"))
    assert not any(written in after for written in ("<T,", "=T\n", "[T]", ": T\n"))
    assert function.parameters[0].name == made.parameters[0].name
    assert function.parameters[0] is not made.parameters[0]
