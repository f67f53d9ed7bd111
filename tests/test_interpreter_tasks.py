"""Tasks, limits on capabilities and reports from source text, on both of the interpreter's hosts (spec 7, 8.3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from interpreting import Ran, run

HOSTS = pytest.mark.parametrize("native", [False, True], ids=["model", "native"])


@HOSTS
def test_first_in_first_out(native: bool) -> None:
    source = """
    fn said(name: String, pause: Duration) {
        print("{name} 1")
        Time.sleep(pause)
        print("{name} 2")
    }
    fn main() {
        const a = spawn said("a", 20ms)
        spawn said("b", 10ms)
        spawn said("c", 10ms)
        spawn said("d", -5s)
        print("main")
        a.wait() catch e => print(e)
        print(Time.now())
    }
    """
    printed = ["main", "a 1", "b 1", "c 1", "d 1", "d 2", "b 2", "c 2", "a 2", "2026-01-01T00:00:00.020Z"]
    assert run(source, native=native) == Ran("".join(f"{line}\n" for line in printed), "", 0)


@HOSTS
def test_errors_that_nobody_waited_for(native: bool) -> None:
    source = """
    type Bad = Worse(n: Int)
    fn fails(n: Int, pause: Duration) -> Int ! Bad {
        Time.sleep(pause)
        fail Bad.Worse(n)
    }
    fn main() ! Bad {
        spawn fails(1, 20ms)
        const seen = spawn fails(2, 5ms)
        spawn fails(3, 10ms)
        const cancelled = spawn fails(4, 1s)
        print(seen.wait() catch e => { print("caught {e}")
            0 })
        print(seen.wait() catch e => match e { Bad.Worse(n) => n, _ => 0 })
        cancelled.cancel()
        print(cancelled.wait() catch e => match e { TaskError.Cancelled => -1, _ => 0 })
        fail Bad.Worse(5)
    }
    """
    assert run(source, native=native) == Ran(
        "caught Worse(n: 2)\n0\n2\n-1\n",
        "error: a task that nobody waited for failed: Worse(n: 3)\n"
        "error: a task that nobody waited for failed: Worse(n: 1)\n"
        "error: Worse(n: 5)\n",
        1,
    )


@HOSTS
def test_cancelling(native: bool) -> None:
    source = """
    fn ticks(name: String) {
        for i in 0..3 {
            print("{name} {i}")
            Time.sleep(10ms)
        }
    }
    fn waits(t: Task<()>) {
        t.wait() catch e => print("waiter: {e}")
    }
    fn main() {
        const never = spawn ticks("never")
        never.cancel()
        const some = spawn ticks("some")
        const waiter = spawn waits(some)
        Time.sleep(15ms)
        some.cancel()
        some.cancel()
        waiter.wait() catch e => print(e)
        never.wait() catch e => print("never: {e}")
        print(Time.now())
    }
    """
    printed = ["some 0", "some 1", "waiter: Cancelled", "never: Cancelled", "2026-01-01T00:00:00.015Z"]
    assert run(source, native=native) == Ran("".join(f"{line}\n" for line in printed), "", 0)


@HOSTS
def test_spawn_evaluates_its_arguments_at_once(native: bool) -> None:
    source = """
    fn noted(n: Int) -> Int {
        print("argument {n}")
        n
    }
    fn shown(n: Int) { print("task {n}") }
    fn main() {
        let n = 1
        const t = spawn shown(noted(n))
        n = 2
        print("main {n}")
        t.wait() catch _ => { }
        const s = spawn Time.sleep(5ms)
        s.wait() catch _ => { }
        print(Time.now())
    }
    """
    printed = ["argument 1", "main 2", "task 1", "2026-01-01T00:00:00.005Z"]
    assert run(source, native=native) == Ran("".join(f"{line}\n" for line in printed), "", 0)


@HOSTS
def test_a_panic_in_a_task_ends_the_program(native: bool) -> None:
    source = """
    fn bad(xs: [Int]) -> Int {
        Time.sleep(1ms)
        xs[5]
    }
    fn main() {
        const t = spawn bad([1])
        print("started")
        print(t.wait() catch _ => 0)
    }
    """
    panic = "panic: index 5 is out of range: the length is 1 at a.kav:4:9\n  in bad, started at a.kav:7:19\n"
    assert run(source, native=native) == Ran("started\n", panic, 101)


LIMITED = """
type SpendError = Denied(reason: String) | Broke
capability Spending {
    fn spend(amount: AMOUNT) -> Int ! SpendError
}
type Wallet: Spending {
    fn spend(self, amount: AMOUNT) -> Int ! SpendError {
        Time.sleep(1s)
        if amount == BROKE { fail SpendError.Broke }
        1
    }
}
fn twice(s: Spending, amount: AMOUNT) -> Int ! SpendError { (try s.spend(amount)) + try s.spend(amount) }
agent Spender {
    settings AgentSettings(mode: Mode.MODE)
    can Spending
    limit Spending.spend {
        RULES
    }
    on spend(amount: AMOUNT) -> Int ! SpendError { try Spending.spend(amount) }
    on spend_twice(amount: AMOUNT) -> Int ! SpendError { try twice(Spending, amount) }
}
fn main() {
    const a = Spender.start(Spending: Wallet())
    BODY
}
"""


def limited(rules: str, body: str, folder: Path, native: bool, amount: str = "Int", mode: str = "Enforce") -> Ran:
    broke = "-1" if amount == "Int" else "-1.0"
    source = LIMITED.replace("AMOUNT", amount).replace("MODE", mode).replace("RULES", rules).replace("BROKE", broke)
    return run(source.replace("BODY", body), folder=folder, native=native)


@HOSTS
def test_ten_tasks_spend_exactly_the_bound(tmp_path: Path, native: bool) -> None:
    """Bug case 15."""
    body = """
    let tasks: [Task<Int>] = []
    for _ in 0..10 { tasks.push(spawn a.spend(100)) }
    let spent = 0
    for t in tasks { spent += t.wait() catch _ => 0 }
    print(spent)
    """
    ran = limited("sum(amount) <= 700 per day", body, tmp_path, native)
    assert ran == Ran("7\n", "", 0, ran.report)
    assert "entries 7 total 700 times [0, 0, 0, 0, 0, 0, 0]" in ran.report


@HOSTS
def test_limits_hold_wherever_the_capability_goes(tmp_path: Path, native: bool) -> None:
    body = 'print(a.spend_twice(400) catch e => { print("{e}")\n 0 })'
    ran = limited("sum(amount) <= 700 per day", body, tmp_path, native)
    assert ran.out == 'Denied(reason: "limit broken: sum(amount) <= 700 per day")\n0\n'
    assert "entries 1 total 400 times [0]" in ran.report


@HOSTS
def test_the_first_broken_rule_is_the_reason(tmp_path: Path, native: bool) -> None:
    """Nothing of a later rule is evaluated: the division by zero is never reached."""
    rules = "count <= 9 per day\nsum(amount * 2) <= 20 per day\namount != 0\n100 / amount > 1"
    body = """
    for n in [5, 0, 6, 50, 5] { print(a.spend(n) catch e => { print("{n} {e}")
        0 }) }
    """
    ran = limited(rules, body, tmp_path, native)
    denied = 'Denied(reason: "limit broken: {}")'
    assert ran.out.splitlines() == [
        "1",
        f"0 {denied.format('amount != 0')}",
        "0",
        f"6 {denied.format('sum(amount * 2) <= 20 per day')}",
        "0",
        f"50 {denied.format('sum(amount * 2) <= 20 per day')}",
        "0",
        "1",
    ]


@HOSTS
def test_failed_calls_count_and_negative_amounts_buy_no_room(tmp_path: Path, native: bool) -> None:
    body = """
    for n in [60, -1, -500, 41, 40] { print(a.spend(n) catch e => { print("{n} {e}")
        0 }) }
    """
    ran = limited("sum(amount) <= 100 per day\ncount < 5 per day", body, tmp_path, native)
    assert ran.out.splitlines() == [
        "1",
        "-1 Broke",
        "0",
        "1",
        '41 Denied(reason: "limit broken: sum(amount) <= 100 per day")',
        "0",
        "1",
    ]
    second = 1_000_000_000
    assert f"entries 4 total 100 times [0, {second}, {2 * second}, {3 * second}]" in ran.report


@HOSTS
def test_float_totals_do_not_drift(tmp_path: Path, native: bool) -> None:
    """Bug case 14: 2^54, 1 and 1; when the first has left, the total is 2."""
    body = """
    for x in [18_014_398_509_481_984.0, 1.0, 1.0] { print(a.spend(x) catch _ => 0) }
    Time.sleep(7s)
    print(a.spend(0.0 / 0.0) catch e => { print(e)
        0 })
    """
    rules = "sum(amount) <= 2e16 per 10s"
    ran = limited(rules, body, tmp_path, native, amount="Float")
    assert ran.out == f'1\n1\n1\nDenied(reason: "limit broken: {rules}")\n0\n'
    assert "entries 2 total 2.0 times [1000000000, 2000000000]" in ran.report


@HOSTS
def test_observe_reports_and_records(tmp_path: Path, native: bool) -> None:
    body = "for n in [60, 50] { print(a.spend(n) catch _ => 0) }"
    ran = limited("amount < 55\nsum(amount) <= 100 per day", body, tmp_path, native, mode="Observe")
    assert (ran.out, ran.status) == ("1\n1\n", 0)
    assert ran.err == (
        "[observe] Spender: Spending.spend: limit broken: amount < 55\n"
        "[observe] Spender: Spending.spend: limit broken: sum(amount) <= 100 per day\n"
    )
    assert "entries 2 total 110" in ran.report


@HOSTS
def test_a_rule_that_panics(tmp_path: Path, native: bool) -> None:
    ran = limited(
        "sum(amount * 1_000) <= 7 per day", "print(a.spend(9_223_372_036_854_775_807) catch _ => 0)", tmp_path, native
    )
    assert ran.status == 101
    assert ran.err.startswith("panic: integer overflow at a.kav:")
