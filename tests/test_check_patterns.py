"""`match`: what patterns fit, that no value is missed, and that every arm can run (spec 3)."""

from __future__ import annotations

import pytest
from checking import error_of, errors_of, program_of

BEFORE = """
type P = A | B(x: Int, y: Q)
type Q = C | D(z: Bool)
type R { n: Int, q: Q }
"""


def messages(subject: str, arms: str) -> list[str]:
    found = errors_of(f"{BEFORE}\nfn f(v: {subject}) {{\n    match v {{\n        {arms}\n    }}\n}}")
    return [line.split(" ", 1)[1] for line in found]


@pytest.mark.parametrize(
    ("subject", "arms", "missing"),
    [
        ("Bool", "true => 1", "`false`"),
        ("P", "P.A => 1", "`P.B(_, _)`"),
        ("P", "P.A => 1, P.B(_, Q.C) => 2", "`P.B(_, Q.D(_))`"),
        ("P", "P.A => 1, P.B(_, Q.C) => 2, P.B(y: Q.D(true)) => 3", "`P.B(_, Q.D(false))`"),
        ("P", "P.B => 1 ", "`P.A`"),
        ("P", "", "`P.A` and `P.B(_, _)`"),
        ("P", "P.A if 1 == 1 => 1, P.B => 2", "`P.A`"),
        ("P", "_ if true => 1", "`P.A` and `P.B(_, _)`"),
        ("Int", "0 => 1", "`_`"),
        ("Int", "-9223372036854775808..=3 => 1, 5..=9223372036854775807 => 2", "`4`"),
        ("Int", "-9223372036854775808..0 => 1, 10..=9223372036854775807 => 2", "`0..=9`"),
        ("Duration", "0s => 1, 1s..2s => 2", "`_`"),
        ("String", '"a" => 1', "`_`"),
        ("Float", "1 => 1, 2.5 => 2", "`_`"),
        ("R", "R(n: 1, q: Q.C) => 1, R(q: Q.D(_)) => 2", "`R(_, Q.C)`"),
        ("(Bool?, Bool?)", "(_, none) => 1, (none, _) => 2", "`(value, value2)`"),
        ("Error", "AiError.Denied(_) => 1", "`_`"),
        ("AiError", "AiError.Denied(_) => 1, AiError.NoKey => 2",
         "`AiError.Failed(_, _)` and `AiError.InvalidOutput(_)`"),
    ],
)  # fmt: skip
def test_what_is_missed_is_named(subject: str, arms: str, missing: str) -> None:
    assert messages(subject, arms) == [f"this `match` misses {missing}"]


@pytest.mark.parametrize(
    ("subject", "arms"),
    [
        ("Bool", "true => 1, false => 2"),
        ("P", "P.A => 1, P.B(0, q) => 2, P.B(x: n, y: Q.C) => 3, P.B(y: Q.D(b)) => 4"),
        ("P", "P.A | P.B(_, Q.C) => 1, P.B(_, Q.D(_)) => 2"),
        ("Int", "-9223372036854775808..0 => 1, 0 => 2, 1..=9223372036854775807 => 3"),
        ("Int", "1 | 2 => 1, n if n > 5 => 2, _ => 3"),
        ("R", "R(1, _) => 1, R(q: Q.C) => 2, R => 3"),
        ("Error", "AiError.Denied(r) => 1, R(n: 1) => 2, TaskError.Cancelled => 3, e => 4"),
        ("String", '"a" | "b" => 1, other => 2'),
        ("Float", "1 => 1, _ => 2"),
        ("[Int]", "xs => 1"),
    ],
)
def test_complete_matches(subject: str, arms: str) -> None:
    if "R => 3" in arms:
        arms = arms.replace("R => 3", "R(_, _) => 3")
    assert messages(subject, arms) == []


@pytest.mark.parametrize(
    ("subject", "arms", "message"),
    [
        ("Bool", "true => 1, false => 2, _ => 3",
         "this arm never runs: the arms before it take every value that fits it"),
        ("Int", "_ => 1, 3 => 2", "this arm never runs: the arms before it take every value that fits it"),
        ("Int", "1..=9 => 1, 3..5 => 2, _ => 3",
         "this arm never runs: the arms before it take every value that fits it"),
        ("Int", "1 => 1, 1 | 2 => 2, _ => 3", "`1` never fits here: what stands before it takes every such value"),
        ("P", "P.B(1, _) => 1, P.B(1, Q.C) => 2, _ => 3",
         "this arm never runs: the arms before it take every value that fits it"),
        ("Error", "AiError.Denied => 1, AiError.Denied(\"a\") => 2, _ => 3",
         "this arm never runs: the arms before it take every value that fits it"),
        ("Int", "1 => 1, 1 if true => 2, _ => 3",
         "this arm never runs: the arms before it take every value that fits it"),
    ],
)  # fmt: skip
def test_arms_that_never_run(subject: str, arms: str, message: str) -> None:
    assert messages(subject, arms) == [message]


@pytest.mark.parametrize(
    ("subject", "arms", "message"),
    [
        ("P", "A => 1", "`A` is a variant of `P`, and is written with its name"),
        ("P", "B(1, _) => 1", "`B` is a variant of `P`, and is written with its name"),
        ("P", "P.B(1) => 1", "`P.B` has 2 fields, but 1 is given"),
        ("P", "P.B() => 1", "`P.B` has 2 fields, but none is given"),
        ("P", "P.A() => 1", "`P.A` has no fields"),
        ("P", "P.B(z: 1) => 1", "`P.B` has no field `z`"),
        ("P", "P.B(x: 1, x: 2) => 1", "`x` is given twice"),
        ("P", "P.E => 1", "`P` has no variant `E`"),
        ("P", "Q.C => 1", "this pattern fits a `Q`, but the value is a `P`"),
        ("P", "1 => 1", "this pattern fits an `Int`, but the value is a `P`"),
        ("Int", '"a" => 1', "this pattern fits a `String`, but the value is an `Int`"),
        ("Int", "1s..2s => 1", "this pattern fits a `Duration`, but the value is an `Int`"),
        ("Int", "5..5 => 1", "no value lies in `5..5`"),
        ("Int", "5..=4 => 1", "no value lies in `5..=4`"),
        (
            "P",
            "P.B(n, _) | P.A => 1",
            "`n` cannot be bound here: the other alternatives would leave it without a value",
        ),
        ("P", "P.B(n, Q.D(n)) => 1", "`n` is declared twice"),
        ("P", "X.Y => 1", "`X.Y` is not something to match"),
        ("R", "R => 1", "`R` is a type, and cannot be bound here"),
        ("Int", "n => m", "`m` is not known here"),
    ],
)
def test_patterns_that_do_not_fit(subject: str, arms: str, message: str) -> None:
    assert messages(subject, arms) == [message]


def test_the_help_is_the_arms_to_add() -> None:
    found = error_of(BEFORE + "fn f(v: P) { match v { } }")
    assert found.help == "add `P.A => …` and `P.B(_, _) => …`"


def test_too_many_combinations_are_refused_and_not_gone_through() -> None:
    fields = ", ".join(f"b{index}: Bool" for index in range(20))
    arms = "\n".join(f"R(b{index}: true, b{(index + 7) % 20}: false) => 1" for index in range(20))
    found = error_of(f"type R {{ {fields} }}\nfn f(r: R) {{ match r {{\n{arms}\n}} }}")
    assert found.message == "this `match` has too many combinations to be sure that it misses none"


def test_a_match_of_many_literals_is_checked() -> None:
    arms = "\n".join(f"{index} => {index}" for index in range(300))
    program_of(f"fn f(n: Int) -> Int {{ match n {{\n{arms}\n_ => 0 }} }}")
