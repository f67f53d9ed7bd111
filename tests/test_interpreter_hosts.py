"""The two hosts of the interpreter, written independently, agree on random programs of tasks, limits and asks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from interpreting import run
from kavachc.state.windows import Window

DECLARATIONS = """
type Yes {{ ok: Bool }}
type PayError = Declined(n: Int) | Denied(reason: String)
capability Pay {{ fn pay(amount: {amount}) -> Int ! PayError }}
type Bank: Pay {{
    fn pay(self, amount: {amount}) -> Int ! PayError {{
        Time.sleep({pause})
        if amount < {zero} {{ fail PayError.Declined(7) }}
        1
    }}
}}
agent Bot {{
    model Model(max_tokens: {max_tokens})
    settings AgentSettings(asks_under_way: UnderWay.{way}, mode: Mode.{mode})
    can Ai, Pay
    limit Pay.pay {{
        sum(amount) <= {bound} per {window}
        count < {count} per {other_window}
    }}
    limit Ai {{
        {ai_rules}
    }}
    on yes(prompt: String) -> Int ! Error {{ if (try ask<Yes>(prompt)).ok {{ 1 }} else {{ 0 }} }}
    on pay(amount: {amount}) -> Int ! PayError {{ try Pay.pay(amount) }}
}}
"""

REPLIES: tuple[dict[str, Any], ...] = (
    {"answer": {"ok": True}},
    {"answer": {"ok": False}, "delay": "3ms", "input_tokens": 1, "output_tokens": 7},
    {"text": "no"},
    {"text": '{"ok": true, "ok": true}', "delay": "1ms"},
    {"status": 529, "message": "busy"},
    {"status": 429, "headers": {"retry-after": "2"}},
    {"status": 400, "message": "bad"},
    {"drop": True},
    {"stop_reason": "refusal", "text": "never"},
    {"stop_reason": "max_tokens", "text": "{"},
    {"answer": {"ok": True}, "when": "p2", "times": 2},
    {"answer": {"ok": True}, "delay": "2s", "input_tokens": 0, "output_tokens": 0},
)


def declarations(chance: random.Random) -> tuple[str, bool]:
    is_float = chance.random() < 0.3
    rules = [
        f"tokens <= {chance.choice([50, 150, 400])} per {chance.choice(['day', '2s', '5ms'])}",
        "count <= 9 per 1m",
    ]
    chance.shuffle(rules)
    return DECLARATIONS.format(
        amount="Float" if is_float else "Int",
        zero="0.0" if is_float else "0",
        pause=chance.choice(["0s", "1ms", "5ms"]),
        max_tokens=chance.choice([1, 20, 60]),
        way=chance.choice(["Average", "Largest", "NotCounted"]),
        mode=chance.choice(["Enforce", "Enforce", "Observe"]),
        bound="25.5" if is_float else "25",
        window=chance.choice(["day", "10ms", "1s"]),
        other_window=chance.choice(["day", "4ms"]),
        count=chance.choice([2, 5]),
        ai_rules="\n".join(rules[: chance.choice([1, 2])]),
    ), is_float


def statement(chance: random.Random, name: str, tasks_before: int, is_float: bool) -> str:
    """One step of a task, that says how it went."""
    caught = f'catch e => {{ print("{name}: {{e}}")\n -1 }}'
    kinds = ["sleep", "ask", "pay", "yield"]
    if tasks_before:
        kinds += ["wait", "wait", "cancel"]
    kind = chance.choice(kinds)
    index = chance.randrange(tasks_before) if tasks_before else 0
    if kind == "sleep":
        return f"Time.sleep({chance.choice(['1ms', '2ms', '5ms', '1s', '-1s'])})"
    if kind == "yield":
        return "Time.sleep(0s)"
    if kind == "ask":
        return f'print("{name} asked {{bot.yes("p{chance.randrange(4)}") {caught}}}")'.replace("{e}", "{e}")
    if kind == "pay":
        amount = chance.choice([10, 3, -4, 24])
        return f'print("{name} paid {{bot.pay({float(amount) if is_float else amount}) {caught}}}")'
    if kind == "wait":
        return f'print("{name} waited {{ts[{index}].wait() {caught}}}")'
    return f'ts[{index}].cancel()\nprint("{name} cancels {index}")'


def program(seed: int) -> tuple[str, dict[str, Any]]:
    chance = random.Random(seed)
    text, is_float = declarations(chance)
    count = chance.randrange(1, 8)
    main = ["const bot = Bot.start(Pay: Bank())", "let ts: [Task<Int>] = []"]
    for number in range(count):
        name = f"w{number}"
        body = [statement(chance, name, number, is_float) for _ in range(chance.randrange(5))]
        end = chance.choice([str(number), str(number), "fail PayError.Declined(9)"])
        text += f"fn {name}(bot: Bot, ts: [Task<Int>]) -> Int ! PayError {{\n" + "\n".join([*body, end]) + "\n}\n"
        main.append(f"ts.push(spawn {name}(bot, ts))")
        if chance.random() < 0.3:
            main.append(statement(chance, "main", number + 1, is_float))
    main += [statement(chance, "main", count, is_float) for _ in range(chance.randrange(4))]
    main.append("print(Time.now())")
    script: dict[str, Any] = {"replies": [chance.choice(REPLIES) for _ in range(chance.randrange(1, 8))]}
    if chance.random() < 0.2:
        script["then"] = "fail"
    if chance.random() < 0.3:
        script["capacity"] = chance.choice([1, [[0, 2], ["2s", 0]]])
    return text + "fn main() {\n" + "\n".join(main) + "\n}\n", script


@pytest.mark.parametrize("first_seed", range(0, 60, 10))
def test_both_hosts_do_the_same(first_seed: int, tmp_path: Path) -> None:
    for seed in range(first_seed, first_seed + 10):
        source, script = program(seed)
        one = run(source, model=script, folder=tmp_path)
        other = run(source, model=script, folder=tmp_path, native=True)
        assert one == other, f"seed {seed}\n{source}\n{script}"


def test_a_planted_fault_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The canary: a window that keeps a call one nanosecond too long."""

    def expire_late(window: Window, now_ns: int) -> None:
        expire(window, now_ns - 1)

    expire = Window.expire
    monkeypatch.setattr(Window, "expire", expire_late)
    for seed in range(300):
        source, script = program(seed)
        one = run(source, model=script, folder=tmp_path)
        if one != run(source, model=script, folder=tmp_path, native=True):
            return
    raise AssertionError("300 programs, and none shows the fault")
