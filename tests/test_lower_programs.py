"""Whole programs, lowered and verified: the reference pages', and ones that hold every kind of node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from kavachc.ir.parser import parse_module
from kavachc.ir.printer import print_module
from kavachc.ir.verifier import verify
from kavachc.lower.builtins import BUILTINS as LOWERED
from kavachc.lower.builtins import MUTATING_BUILTINS as LOWERED_IN_PLACE
from kavachc.lower.builtins import TYPED_BUILTINS as LOWERED_BY_TYPE
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.builtins import BUILTINS, GUARDS
from kavachc.source import SourceFile, Span
from lowering import module_of, program_of

PAYMENTS = """
type PayError = Declined | Denied(reason: String)

capability Payments {
    fn refund(order: Int, amount: Int) ! PayError
    fn name() -> String
}

type Bank: Payments {
    fn refund(self, order: Int, amount: Int) ! PayError {
        print("refunded {amount} on order {order}")
    }
    fn name(self) -> String { "bank" }
}

agent Refunder {
    can Payments
    limit Payments.refund {
        amount <= 500
        sum(amount) <= 700 per day
        count < 3 per 10m
    }
    on refund(order: Int, amount: Int) ! PayError {
        try Payments.refund(order, amount)
    }
    on pass(order: Int) ! PayError { try pay(Payments, order) }
}

fn pay(to: Payments, order: Int) ! PayError { try to.refund(order, 1) }

fn main() {
    const bot = Refunder.start(Payments: Bank())
    bot.refund(1, 400) catch e => print("refused: {e}")
    bot.pass(2) catch e => print("refused: {e}")
    print(Bank().name())
}
"""

TOKENS = """
type Yes {
    ok: Bool
}

agent Bot {
    can Ai
    limit Ai {
        tokens <= 100 per day
    }
    on check() -> Bool ! Error {
        (try ask<Yes>("a")).ok
    }
}

fn main() ! Error uses Ai, Console {
    const b = Bot.start()
    for _ in 0..3 {
        const ok = b.check() catch e => {
            print("refused: {e}")
            continue
        }
        print(ok)
    }
}
"""

WRITER = """
type Yes {
    ok: Bool
}

agent Writer {
    model Model(name: "claude-haiku-5-5", max_tokens: 30)
    settings AgentSettings(asks_under_way: UnderWay.Average)
    can Ai
    limit Ai {
        tokens <= 200 per day
    }
    on write() -> Bool ! Error {
        const _y = ask<Yes>("a") catch _ => {
            return false
        }
        true
    }
}

fn main() ! Error uses Ai, Console {
    const w = Writer.start()
    let asked: [Task<Bool>] = []
    for _ in 0..10 {
        asked.push(spawn w.write())
    }
    let answered = 0
    for a in asked {
        if try a.wait() {
            answered += 1
        }
    }
    print("answered {answered}")
}
"""

READER = """
type Verdict {
    /// true if the review is positive
    positive: Bool
}

agent Reader {
    can Ai, Console

    on review(text: String) ! AiError {
        const v = ask<Verdict>("Is this review positive? {text}") catch e => match e {
            AiError.InvalidOutput(_) => Verdict(positive: false),
            _ => fail e,
        }
        print("positive: {v.positive}")
    }
}

fn main() {
    const bot = Reader.start()
    bot.review("Arrived late, but works well") catch e => print("no answer: {e}")
}
"""

VALUES = """
type Point { x: Int, y: Int = 7 }
type Line { from: Point, to: Point, name: String = "line" }
type Shape = Dot | Circle(centre: Point, radius: Float) | Named(name: String)
type Broken = Bad(code: Int) | Worse(reason: String)

const SIZES = [1, 2, 3]
const WAIT = 5s

fn half(n: Int) -> Int ! Broken {
    if n % 2 != 0 { fail Broken.Bad(code: n) }
    n / 2
}

fn outer(n: Int) -> Int ! Error { try half(n) }

fn fact(n: Int) -> Int { if n <= 1 { 1 } else { n * fact(n - 1) } }

fn area(shape: Shape) -> Float {
    match shape {
        Shape.Dot => 0.0,
        Shape.Circle(centre: c, radius: r) if c.x > 0 => r * r * 3.0,
        Shape.Circle(radius: r) => -r,
        Shape.Named(name) => if name == "unit" { 1.0 } else { 2.0 },
    }
}

fn size(n: Int) -> String {
    match n {
        0 => "none",
        1 | 2 => "few",
        3..10 => "some",
        10..=99 => "many",
        _ => "lots",
    }
}

fn words(text: String, on: Bool, f: Float) -> Int {
    const a = match text { "a" => 1, _ => 2 }
    const b = match on { true => 1, false => 0 }
    const c = match f { 1.5 => 1, _ => 0 }
    const d = match Point(x: a) { Point(x: 1) => 1, Point(y: w) => w }
    a + b + c + d
}

fn describe(e: Error) -> String {
    match e {
        Broken.Bad(code) => "bad {code}",
        Broken.Worse(reason) => reason,
        Point(x: 1, y: w) => "point {w}",
        other => "other: {other}",
    }
}

fn places() -> Int {
    let lines = [Line(from: Point(x: 1), to: Point(x: 2, y: 3))]
    lines[0].to.x += fact(3)
    lines[0].name = "renamed"
    lines[0] = lines[0] with { name: "again", from: Point(x: 9) }
    lines.push(lines[0])
    let grid = [[1], [2, 3]]
    grid[1][0] *= 2
    grid[0].push(grid[1].len())
    let total = 0
    for row in grid {
        for cell in row { total += cell }
    }
    for i in 1..=3 {
        if i == 2 { continue }
        total += i
    }
    for _ in 0..2 { total += 1 }
    for _ in SIZES { total += 1 }
    while total > 100 {
        total -= 1
        if total == 50 { break }
    }
    total
}

fn operators(a: Int, b: Int, d: Duration, t: Instant, f: Float) -> Bool {
    const bits = (a & b | ~a ^ b) << 2 >> 1
    const time = -d + d * 2 - 2 * d / 3
    const late = t + time
    const since = late - t
    const ratio = since / 1s
    const real = -f * f / f + f - f % 2.0
    !(bits == ratio) && real >= 0.5 || late > t && "a" < "b" + "c" || [a] != [b] || Point(x: 1) == Point(x: 2)
}

fn nested(n: Int) -> Int {
    const x = half(n) catch e => {
        const y = half(n + 1) catch _ => {
            return -1
        }
        print("{e} {y}")
        y
    }
    x
}

fn search(xs: [String], wanted: String) -> Int {
    let i = 0
    while true {
        const x = xs[i]
        if x == wanted { return i }
        i += 1
    }
}

fn slow(n: Int) -> Int ! Broken uses Time {
    Time.sleep(WAIT)
    try half(n)
}

fn tasks() -> Int ! Error uses Time, Console {
    const a = spawn slow(4)
    const b = spawn fact(5)
    const c = spawn Time.sleep(1s)
    const d = spawn slow(7)
    d.cancel()
    print(Time.now())
    const e = spawn a.wait()
    try c.wait()
    const x = d.wait() catch e => match e {
        TaskError.Cancelled => -1,
        _ => fail e,
    }
    (try a.wait()) + (try b.wait()) + (try e.wait()) + x
}

fn main() ! Error {
    print(outer(3) catch e => 0)
    print(describe(Broken.Worse(reason: "x")))
    print([area(Shape.Dot)])
    print(size(4))
    print(words("a", true, 1.5))
    print(places())
    print(nested(3))
    print(search(["a"], "a"))
    print(operators(1, 2, 1s, Time.now(), 1.0))
    print(try tasks())
}
"""

EFFECTS = """
type PayError = Denied(reason: String) | Slow

capability Store {
    fn keep(text: String) -> Int ! PayError
    fn count() -> Int
}

type Disk: Store {
    label: String

    fn keep(self, text: String) -> Int ! PayError {
        Time.sleep(1s)
        if text == "" { fail PayError.Slow }
        1
    }
    fn count(self) -> Int { 0 }
}

type Clever: Store {
    fn keep(self, text: String) -> Int ! PayError {
        ask<Int>(text) catch _ => fail PayError.Denied(reason: "no")
    }
    fn count(self) -> Int { down(3) }
}

fn down(n: Int) -> Int { if n == 0 { 0 } else { down(n - 1) } }

agent Keeper {
    can Store, Ai, Time, Console
    limit Store.keep {
        text != "secret"
    }
    on keep(text: String) -> Int ! Error {
        const first = spawn Store.keep(text)
        const second = spawn ask<String>("x")
        const third = spawn think("y")
        print(Store.count())
        const said = try second.wait()
        (try first.wait()) + (try third.wait()) + said.size()
    }
}

fn think(text: String) -> Int ! AiError { try ask<Int>(text) }

fn main() ! Error {
    const a = Keeper.start(Store: Disk(label: "d"))
    const b = Keeper.start(Store: Clever())
    const t = spawn a.keep("x")
    print((try t.wait()) + (try b.keep("y")))
    print(try think("z"))
}
""".replace(" + said.size()", "")

ABSENT = """
type Tree = Leaf | Node(left: Tree, value: Int, right: Tree)
fn sum(t: Tree) -> Int { match t { Tree.Leaf => 0, Tree.Node(l, x, r) => sum(l) + x + sum(r) } }
fn half(n: Int) -> (Int?, [Int]) { if n % 2 == 0 { (n / 2, [n]) } else { (none, []) } }
fn main() {
    const (a, xs) = half(8)
    print(a ?? 3)
    if const v = a { print(v) }
    print(match (a, xs) { (none, []) => 1, (1, [x, ..rest]) => x + rest.len(), (_, [_, ..]) => 2, (_, _) => 3 })
    for (x, t) in [(1, Tree.Leaf), (2, Tree.Node(Tree.Leaf, 4, Tree.Leaf))] { print(x + sum(t)) }
}
"""

FUNCTIONS = """
fn double(n: Int) -> Int { n * 2 }

fn asked(text: String) -> Int ! AiError { try ask<Int>(text) }

fn call(f: fn(Int) -> Int, n: Int) -> Int { f(n) }

agent Bot {
    can Ai
    on asker(prefix: String) -> fn(String) -> Int ! AiError { asked }
}

fn grow(mut xs: [Int]) { xs.push(3) }

fn main() ! Error {
    let xs = [1]
    const f = fn(n: Int) => xs[0] + n
    xs.push(2)
    grow(mut xs)
    print(call(double, 1) + call(f, 2))
    const text = "t"
    const g: fn(String) -> Int ! AiError = fn(more) => try asked(text + more)
    const t = spawn g("x")
    print((try t.wait()) + (try g("y")))
}
"""

MAPS = """
type Row { cells: [String: [Int]] }
fn count<K: Key>(xs: [K]) -> [K: Int] {
    let counts: [K: Int] = [:]
    for x in xs { counts[x] = (counts.get(x) ?? 0) + 1 }
    counts
}
fn main() {
    let row = Row(["a": [1]])
    row.cells["a"].push(2)
    row.cells["b"] = []
    row.cells["a"][0] += 5
    row.cells.remove("b")
    row.cells.set("c" + "d", [])
    print("{row.cells["a"]} {row.cells.contains("b")} {row.cells.keys()} {row.cells.values()} {row.cells.len()}")
    for (k, n) in count(["x", "x"]) { print("{k} {n}") }
}
"""

ASSERTIONS = """
fn checked(xs: [String], n: Int) -> Int {
    assert xs == ["a", "b"], "for {n}"
    assert n > 0 || xs.is_empty()
    assert false
}

fn main() { print(checked(["a"], 1)) }
"""

PROGRAMS = {
    "payments": PAYMENTS,
    "tokens": TOKENS,
    "writer": WRITER,
    "reader": READER,
    "values": VALUES,
    "effects": EFFECTS,
    "absent": ABSENT,
    "functions": FUNCTIONS,
    "maps": MAPS,
    "assertions": ASSERTIONS,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_verified_and_reads_back(name: str) -> None:
    module = module_of(PROGRAMS[name])
    text = print_module(module)
    again = parse_module(text)
    verify(again)
    assert print_module(again) == text


def _nodes(node: object, seen: set[int]) -> Iterator[object]:
    if isinstance(node, tuple | list):
        for item in node:
            yield from _nodes(item, seen)
    elif is_dataclass(node) and not isinstance(node, Span | SourceFile | type) and id(node) not in seen:
        seen.add(id(node))
        yield node
        for item in fields(node):
            yield from _nodes(getattr(node, item.name), seen)


STATEMENTS = ("For", "While", "Assign", "Take")


def test_programs_hold_every_kind_of_node() -> None:
    found = {type(node) for source in PROGRAMS.values() for node in _nodes([*program_of(source).functions], set())} | {
        type(node) for source in PROGRAMS.values() for node in _nodes([*program_of(source).agents], set())
    }
    wanted = {
        item
        for name, item in vars(typed).items()
        if isinstance(item, type)
        and (
            issubclass(item, typed.Expr)
            or name.endswith("Pattern")
            or name.startswith(("For", "While", "Assign", "Take"))
        )
    }
    # Only what was reported as wrong stands as nothing.
    wanted -= {typed.Expr, typed.NothingValue}
    assert wanted - found == set()


def test_every_builtin_is_lowered() -> None:
    assert {row.key for row in (*BUILTINS, *GUARDS.values()) if not row.mutates} == {*LOWERED, *LOWERED_BY_TYPE}
    assert {row.key for row in BUILTINS if row.mutates} == set(LOWERED_IN_PLACE)
