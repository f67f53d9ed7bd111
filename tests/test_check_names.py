"""Names: declared once, known where they are used, helped when nearly right (spec 2)."""

from __future__ import annotations

import pytest
from checking import checked, error_of, errors_of, messages_in, program_of


def test_top_level_order_is_free() -> None:
    program_of(
        """
        fn first() -> Later { second() }
        fn second() -> Later { Later(size: SIZE) }
        type Later { size: Int, next: [Later] = [] }
        const SIZE = WIDTH * 2
        const WIDTH = 4
        """
    )


@pytest.mark.parametrize(
    ("source", "first_line"),
    [
        ("fn f() { }\nfn f() { }", "2:4 `f` is declared twice"),
        ("type A { }\nconst A = 1", "2:7 `A` is declared twice"),
        ("type R { a: Int, a: Int }", "1:18 `a` is declared twice"),
        ("type R {\n    a: Int\n    fn a(self) { }\n}", "3:8 `a` is declared twice"),
        ("type S = A | B | A", "1:18 `A` is declared twice"),
        ("type S = A(x: Int, x: Int)", "1:20 `x` is declared twice"),
        ("fn f(x: Int, x: Int) { }", "1:14 `x` is declared twice"),
        ("capability C {\n    fn m()\n    fn m()\n}", "3:8 `m` is declared twice"),
        ("agent A {\n    on h() { }\n    on h() { }\n}", "3:8 `h` is declared twice"),
    ],
)
def test_duplicates_point_at_the_first(source: str, first_line: str) -> None:
    assert errors_of(source) == [first_line]
    assert [label.text for label in error_of(source).labels] == ["first declared here"]


@pytest.mark.parametrize(
    "declaration",
    ["type Model { }", "type Int { }", "type Task { }", "capability Console { }", "fn print() { }", "const ask = 1"],
)
def test_built_in_names_are_taken(declaration: str) -> None:
    assert "is the name of something built in" in error_of(declaration).message


def test_one_block_declares_a_name_once_and_an_inner_block_may_shadow() -> None:
    assert messages_in("const x = 1\nconst x = 2") == ["`x` is declared twice"]
    assert messages_in('const x = 1\nif x == 1 {\n    const x = "one"\n    print(x)\n}') == []
    program_of("fn f(n: Int) -> Int {\n    let n = n\n    n += 1\n    n\n}")


def test_underscore_is_declared_again_and_again_and_never_read() -> None:
    assert messages_in("const _ = 1\nconst _ = 2\nfor _ in 0..2 { }") == []
    assert messages_in("const _ = 1\nprint(_)") == ["`_` has no value: it stands for what nobody needs"]


@pytest.mark.parametrize(
    ("statement", "message", "help_text"),
    [
        ("prnt(1)", "`prnt` is not known here", "did you mean `print`?"),
        ("print(totl)", "`totl` is not known here", "did you mean `total`?"),
        ("print(Total)", "`Total` is not known here", "did you mean `total`?"),
        ("print(zzz)", "`zzz` is not known here", None),
        ("const x: Strng = total", "there is no type `Strng`", "did you mean `String`?"),
        ("print(AiError.Deneid(reason: total))", "`AiError` has no variant `Deneid`", "did you mean `Denied`?"),
        ("print(Model().nme)", "`Model` has no field `nme`", "did you mean `name`?"),
        ("[1].psh(total)", "`[Int]` has no method `psh`", "did you mean `push`?"),
        ("fail Denied(reason: total)", "`Denied` is a variant of `AiError`, and is written with its name",
         "write `AiError.Denied`"),
    ],
)  # fmt: skip
def test_near_misses_are_named(statement: str, message: str, help_text: str | None) -> None:
    found = error_of(f'fn main() ! AiError {{\n    const total = "t"\n    {statement}\n}}')
    assert (found.message, found.help) == (message, help_text)


def test_one_mistake_gives_one_message() -> None:
    assert messages_in("const x = missing\nprint(x + 1)\nconst y: Int = x.a[2].b()\nfor z in x { print(z * 2) }") == [
        "`missing` is not known here"
    ]
    assert errors_of("fn f(x: Missing) -> [Missing] ! Missing {\n    fail x\n}") == [
        "1:9 there is no type `Missing`",
        "1:22 there is no type `Missing`",
        "1:33 there is no type `Missing`",
    ]


def test_every_mistake_of_one_run_is_reported_in_source_order() -> None:
    found = errors_of("fn a() { b() }\nfn c() -> Int { d }\nfn e(x: F) { }\nfn main() { g() }")
    assert [line.split(" ")[0] for line in found] == ["1:10", "2:17", "3:9", "4:13"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("print(Model)", "`Model` is a type, not a value"),
        ("print(print)", "`print` is a function, not a value"),
        ("print(Time)", "`Time` is a built-in capability, not a value"),
        ("print(Time.now)", "`Time.now` is something to call, not a value"),
        ("print(self)", "`self` is known only in a method of a type"),
        ("const f: main = 1", "`main` is a function, not a type"),
        ("const f: Console = 1", "`Console` is a built-in capability, not a type"),
        ("const f: Declined = 1", "`Declined` is a variant of `E`, not a type"),
    ],
)
def test_names_of_other_things_are_no_values(statement: str, message: str) -> None:
    assert messages_in(statement, "type E = Declined") == [message]


def test_self_comes_with_methods_only() -> None:
    assert errors_of("fn f(self) { }") == ["1:4 a function takes no `self`"]
    assert errors_of("agent A {\n    on f(self) { }\n}") == ["2:8 a handler takes no `self`"]
    found = error_of("type R {\n    fn f(x: Int) -> Int { x }\n}")
    assert found.message == "the method `f` of `R` takes no `self`"
    assert found.help == "write `fn f(self, x: Int) -> Int`"


def test_an_empty_file_has_no_main() -> None:
    assert [item.message for item in checked("// no main here")[1]] == ["`test.kav` has no `main`"]


@pytest.mark.parametrize(
    ("source", "help_text"),
    [
        ("fn main(x: Int) { }", "write `fn main() { … }`; what the command line gives is `Env.args()`"),
        ("fn main() -> Int { 1 }", "write `fn main() { … }`"),
        ("fn main() -> Int ! Error { 1 }", "write `fn main() ! Error { … }`"),
    ],
)
def test_main_has_one_shape(source: str, help_text: str) -> None:
    found = error_of(source)
    assert (found.message, found.help) == ("`main` takes no parameters and gives no result", help_text)


def test_a_bare_variant_is_helped_with_the_type_that_the_place_wants() -> None:
    before = "type A = No | Only\ntype B = No\n"
    assert error_of(before + "fn f() ! B { fail No }").help == "write `B.No`"
    assert error_of(before + "fn f() { print(No) }").help == "write `A.No`"
    assert error_of("type E = Denied(reason: String)\nfn f() { print(Denied) }").help == "write `E.Denied`"
