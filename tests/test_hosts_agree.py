"""The two hosts run the same tasks: the plain-Python one (`model_host.py`) and the native runtime. What they disagree
on is a fault of one of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kavachc.bindings.abi import Mode, RuleKind, UnderWay
from kavachc.bindings.descriptors import (
    BOOL,
    FLOAT,
    INT,
    STRING,
    Agent,
    ArrayOf,
    BoxOf,
    Description,
    FieldOf,
    Limit,
    OptionalOf,
    RecordOf,
    Rule,
    SumOf,
    TupleOf,
    VariantOf,
)
from kavachc.interpreter.decode import no_rules
from kavachc.interpreter.model_admission import Admission
from kavachc.interpreter.model_host import ModelHost
from kavachc.interpreter.output import Output
from kavachc.interpreter.samples import sample_of
from kavachc.interpreter.values import Value
from kavachc.options import RunOptions
from kavachc.semantics import typed_ast, types
from kavachc.semantics.schema import Sample, Schema
from kavachc.source import SourceFile, Span
from native_program import SECOND, VIRTUAL_START_NS, Answer, Body, Program, run

SPAN = Span(SourceFile("test.kav", ""), 0, 0)
YES = RecordOf("Yes", [FieldOf("ok", BOOL)])
MODEL_KINDS = {"NoKey": "NO_KEY", "Failed": "FAILED_ASK", "InvalidOutput": "INVALID_OUTPUT"}
WAYS = {UnderWay.AVERAGE: "Average", UnderWay.LARGEST: "Largest", UnderWay.NOT_COUNTED: "NotCounted"}


@dataclass
class Scenario:
    """`tasks` are lists of steps: ("sleep", ns), ("ask", prompt), ("cancel", the number of a task), ("look",
    (the number of a task to wait for, for how many ns))."""

    agent: Agent
    tasks: list[list[tuple[str, Any]]]
    test_model: dict[str, Any]
    dry_run: bool = False
    wanted: Description = field(default_factory=lambda: YES)

    @property
    def sample(self) -> Sample:
        return sample_of(model_type(self.wanted, {}), no_rules, lambda _rule, _arguments: None)


@dataclass
class Seen:
    events: list[str] = field(default_factory=list)
    err: str = ""
    report: str = ""
    audit: bytes = b""


# ---- The scenario's program, for any host


def scenario_main(program: Any, scenario: Scenario, events: list[str]) -> Body:
    handles: list[Any] = []

    def note(text: object) -> None:
        events.append(f"{program.now_ns()} {text}")

    def one(number: int, steps: list[tuple[str, Any]]) -> Body:
        for kind, argument in steps:
            if kind == "sleep":
                yield from program.sleep(argument)
                note(f"{number} woke")
            elif kind == "ask":
                answer = yield from program.ask(0, scenario.wanted, argument, scenario.sample.text)
                note(f"{number} {answer.kind} {answer.status} {answer.text}")
            elif kind == "look":
                other, limit_ns = argument
                if other < number:
                    status = yield from program.wait_for(handles[other], limit_ns)
                    note(f"{number} saw {other}: {'not yet' if status is None else int(status)}")
            elif argument < len(handles) and argument != number:
                program.cancel(handles[argument])

    for number, steps in enumerate(scenario.tasks):
        handles.append(program.spawn(one(number, steps)))
    for number, handle in enumerate(handles):
        status = yield from program.wait(handle)
        note(f"main: {number} ended with {int(status)}")


def run_native(scenario: Scenario) -> Seen:
    seen = Seen()

    def main(program: Program) -> Body:
        yield from scenario_main(program, scenario, seen.events)

    with tempfile.TemporaryDirectory() as folder:
        audit = Path(folder, "audit")
        result = run(
            main,
            agents=[scenario.agent],
            test_model=scenario.test_model,
            dry_run=scenario.dry_run,
            audit_log=str(audit),
        )
        seen.err, seen.report, seen.audit = result.err, result.report, audit.read_bytes()
    return seen


# ---- The same for the plain-Python host


STATUSES = {"ok": 0, "failed": 1, "cancelled": 2}


class ModelProgram:
    """What `scenario_main` calls, on the plain-Python host."""

    def __init__(self, agent: typed_ast.Agent) -> None:
        self.agent = agent
        self.host: Any = None
        self._types: dict[Description, types.Type] = {}

    def now_ns(self) -> int:
        return int(self.host.now()) - VIRTUAL_START_NS

    def sleep(self, duration_ns: int) -> Body:
        yield from self.host.sleep(duration_ns)

    def spawn(self, body: Body) -> Any:
        return self.host.spawn(body, types.NOTHING)

    def wait(self, task: Any) -> Generator[None, None, int]:
        outcome = yield from self.host.wait(task)
        return STATUSES[outcome.status]

    def wait_for(self, task: Any, limit_ns: int) -> Generator[None, None, int | None]:
        outcome = yield from self.host.wait_for(task, limit_ns)
        return None if outcome is None else STATUSES[outcome.status]

    def cancel(self, task: Any) -> None:
        self.host.cancel(task)

    def ask(self, _: int, wanted: Description, prompt: str, sample: str) -> Generator[None, None, Answer]:
        schema = Schema("", "none")
        answer = yield from self.host.ask(self.agent, self.type(wanted), schema, Sample(sample), prompt)
        return Answer(MODEL_KINDS.get(answer.kind, answer.kind.upper()), answer.status, answer.text)

    def type(self, description: Description) -> types.Type:
        return model_type(description, self._types)


def model_type(description: Description, known: dict[Description, types.Type]) -> types.Type:
    if description in known:
        return known[description]
    made: types.Type
    match description:
        case ArrayOf(element):
            made = types.ArrayType(model_type(element, known))
        case OptionalOf(element):
            made = types.OptionalType(model_type(element, known))
        case TupleOf(elements):
            made = types.TupleType(tuple([model_type(element, known) for element in elements]))
        case BoxOf(element):
            made = model_type(element, known)
        case RecordOf(name):
            known[description] = made = types.RecordType(name, SPAN, None)
            made.fields.extend(model_fields(description.fields, known))
        case SumOf(name, variants):
            known[description] = made = types.SumType(name, SPAN, None)
            for variant in variants:
                fields = tuple(model_fields(variant.fields, known))
                made.variants.append(types.VariantInfo(variant.name, fields, None, SPAN))
        case _:
            made = {INT: types.INT, FLOAT: types.FLOAT, BOOL: types.BOOL, STRING: types.STRING}[cast(Any, description)]
    known[description] = made
    return made


def model_fields(fields: list[FieldOf], known: dict[Description, types.Type]) -> list[types.FieldInfo]:
    return [types.FieldInfo(each.name, model_type(each.type, known), False, None, SPAN) for each in fields]


def model_agent(agent: Agent) -> typed_ast.Agent:
    limits = []
    for limit in agent.limits:
        rules = [
            typed_ast.Rule(
                cast(Any, rule.kind.name.lower()), SPAN, rule.text, None, rule.bound, rule.strict, rule.window_ns
            )
            for rule in limit.rules
        ]
        limits.append(typed_ast.Limit(SPAN, limit.target, None, None, (), tuple(rules), 0))
    way = cast(Any, WAYS[agent.asks_under_way])
    mode: Any = "Observe" if agent.mode == Mode.OBSERVE else "Enforce"
    return typed_ast.Agent(
        agent.name,
        0,
        types.AgentType(agent.name, SPAN, None),
        SPAN,
        limits=tuple(limits),
        model=typed_ast.ModelSettings(
            agent.model_name,
            agent.max_tokens,
            "Anthropic",
            context_budget=agent.context_budget,
            timeout_ns=agent.timeout_ns,
        ),
        settings=typed_ast.AgentSettings(way, mode),
    )


def run_model(scenario: Scenario) -> Seen:
    seen = Seen()
    err = bytearray()
    agent = model_agent(scenario.agent)
    program = ModelProgram(agent)
    with tempfile.TemporaryDirectory() as folder:
        model_path, report_path = Path(folder, "model.json"), Path(folder, "report.txt")
        audit_path = Path(folder, "audit")
        model_path.write_text(json.dumps(scenario.test_model))
        options = RunOptions(
            dry_run=scenario.dry_run,
            virtual_time=True,
            test_model=str(model_path),
            report=str(report_path),
            audit_log=str(audit_path),
        )
        output = Output(lambda content: None, err.extend)
        program.host = ModelHost(cast(Any, SimpleNamespace(can_ask=True, agents=[agent])), options, output)
        assert program.host.run(scenario_main(program, scenario, seen.events)) == 0
        seen.err, seen.report, seen.audit = err.decode(), report_path.read_text(), audit_path.read_bytes()
    return seen


def assert_agree(scenario: Scenario) -> Seen:
    native = run_native(scenario)
    model = run_model(scenario)
    assert native.events == model.events
    assert native.err == model.err
    assert native.report == model.report
    assert native.audit == model.audit
    return native


# ---- Tasks that ask, sleep and cancel one another

FIT = {"answer": {"ok": True}}
delays = st.sampled_from(["0s", "1ms", "1s", "3s"])
replies = st.builds(
    lambda reply, delay, times, when: {**reply, "delay": delay, "times": times, **when},
    st.sampled_from(
        [
            FIT,
            {**FIT, "input_tokens": 0, "output_tokens": 0},
            {**FIT, "input_tokens": 7, "output_tokens": 4},
            {"text": "no"},
            {"text": '```\n{"ok": false}\n```'},
            {"status": 529},
            {"status": 429, "headers": {"retry-after": "5"}},
            {"status": 429, "error_code": "insufficient_quota"},
            {"status": 400, "message": "bad"},
            {"drop": True},
            {"text": "never", "stop_reason": "refusal"},
            {"text": '{"ok": tr', "stop_reason": "max_tokens"},
        ]
    ),
    delays,
    st.integers(1, 3),
    st.sampled_from([{}, {}, {"when": "§"}, {"when": "did not fit"}]),
)
steps = st.one_of(
    st.tuples(st.just("sleep"), st.sampled_from([0, 1, 1_000_000, SECOND, 3 * SECOND])),
    st.tuples(st.just("ask"), st.sampled_from(["a", "§", "a longer prompt"])),
    st.tuples(st.just("cancel"), st.integers(0, 5)),
    st.tuples(st.just("look"), st.tuples(st.integers(0, 4), st.sampled_from([0, 1_000_000, SECOND, 3 * SECOND]))),
)
limit_rules = st.one_of(
    st.builds(
        Rule,
        kind=st.just(RuleKind.TOKENS),
        text=st.just("tokens"),
        window_ns=st.sampled_from([SECOND, 4 * SECOND, 86_400 * SECOND]),
        bound=st.sampled_from([-1, 0, 69, 70, 140, 150, 200, 350, 1000]),
        strict=st.booleans(),
    ),
    st.builds(
        Rule,
        kind=st.just(RuleKind.COUNT),
        text=st.just("count"),
        window_ns=st.sampled_from([SECOND, 86_400 * SECOND]),
        bound=st.integers(0, 6),
        strict=st.booleans(),
    ),
)
agents = st.builds(
    lambda rules, way, mode, budget, timeout_s: Agent(
        "A",
        (Limit("Ai", tuple(rules)),),
        max_tokens=30,
        context_budget=budget,
        timeout_ns=timeout_s * SECOND,
        asks_under_way=way,
        mode=mode,
    ),
    st.lists(limit_rules, max_size=3),
    st.sampled_from(UnderWay),
    st.sampled_from([Mode.ENFORCE, Mode.ENFORCE, Mode.OBSERVE]),
    st.sampled_from([None, None, 1, 4]),
    st.sampled_from([600, 600, 3, 1]),
)
scenarios = st.builds(
    Scenario,
    agents,
    st.lists(st.lists(steps, max_size=5), min_size=1, max_size=6),
    st.builds(
        lambda listed, more: {"replies": listed, **more},
        st.lists(replies, min_size=1, max_size=5),
        st.sampled_from([{}, {}, {"capacity": 1}, {"capacity": [[0, 2], ["1s", 0], ["2s", 3]]}]),
    ),
    st.sampled_from([False, False, False, True]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios)
def test_tasks_that_ask_and_cancel(scenario: Scenario) -> None:
    # Every reply must find a plain one behind it: with none left, the program would stop.
    scenario.test_model["replies"].append(FIT)
    seen = assert_agree(scenario)
    assert seen.report.startswith("live_blocks 0\n")


def test_the_comparison_sees_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    leave: Callable[..., Any] = Admission.leave
    monkeypatch.setattr(
        Admission, "leave", lambda self, entrant, *, is_abandoned: leave(self, entrant, is_abandoned=False)
    )
    agent = Agent("A", (Limit("Ai", (Rule(RuleKind.TOKENS, "tokens", SECOND * 100, 1000),)),))
    tasks: list[list[tuple[str, Any]]] = [[("ask", "a")], [("sleep", SECOND), ("cancel", 0)]]
    with pytest.raises(AssertionError):
        assert_agree(Scenario(agent, tasks, {"replies": [{**FIT, "delay": "3s"}]}))


# ---- Answers of every kind, and such as only look like it

MOOD = SumOf("Mood", [VariantOf("Positive"), VariantOf("Negative")])
OUTCOME = SumOf("Outcome", [VariantOf("Declined"), VariantOf("Denied", [FieldOf("reason", STRING), FieldOf("n", INT)])])
TREE = RecordOf("Tree", [FieldOf("size", FLOAT)])
TREE.fields.append(FieldOf("children", ArrayOf(TREE)))
ALL = RecordOf(
    "All",
    [FieldOf("b", BOOL), FieldOf("o", OUTCOME), FieldOf("m", MOOD), FieldOf("t", ArrayOf(TREE)), FieldOf("s", STRING)],
)
LIST = RecordOf("List", [FieldOf("value", INT)])
LIST.fields.append(FieldOf("next", BoxOf(OptionalOf(LIST))))
EXPR = SumOf("Expr")
EXPR.variants += [
    VariantOf("Sum", [FieldOf("left", BoxOf(EXPR)), FieldOf("right", BoxOf(EXPR))]),
    VariantOf("Number", [FieldOf("n", OptionalOf(INT))]),
]
WANTED: list[Description] = [
    INT,
    FLOAT,
    BOOL,
    STRING,
    ArrayOf(INT),
    ArrayOf(ArrayOf(STRING)),
    MOOD,
    OUTCOME,
    TREE,
    ALL,
    YES,
    OptionalOf(STRING),
    OptionalOf(OptionalOf(MOOD)),
    TupleOf([INT, OptionalOf(BOOL), STRING]),
    ArrayOf(OptionalOf(TupleOf([FLOAT, MOOD]))),
    RecordOf("Some", [FieldOf("a", OptionalOf(INT)), FieldOf("b", STRING), FieldOf("c", OptionalOf(OUTCOME))]),
    LIST,
    EXPR,
]

SCRAPS = [
    "-0",
    "1.0",
    "1e2",
    '"5"',
    "null",
    "9223372036854775808",
    "1e400",
    "NaN",
    "{}",
    "[]",
    '"\\ud83d"',
    "01",
    "tru",
]
NOISE = [
    ",",
    "}",
    "]",
    "{",
    "[",
    '"',
    " ",
    "\n",
    "\t",
    "\x0b",
    "\x01",
    "\\",
    ":",
    "0",
    "-",
    "e",
    ".",
    "```",
    "\u00e9",
    '"x":1,',
]


def json_texts(description: Description) -> st.SearchStrategy[str]:
    """JSON that fits, spelled in many ways."""
    match description:
        case ArrayOf(element):
            return st.lists(st.deferred(lambda: json_texts(element)), max_size=3).map(
                lambda parts: f"[{', '.join(parts)}]"
            )
        case OptionalOf(element):
            return st.just("null") | st.deferred(lambda: json_texts(element))
        case BoxOf(element):
            return st.deferred(lambda: json_texts(element))
        case TupleOf(elements):
            parts = st.tuples(*[json_texts(element) for element in elements])
            return parts.map(lambda texts: f"[{', '.join(texts)}]")
        case RecordOf(_, fields):
            return objects(fields)
        case SumOf(_, variants):
            return st.sampled_from(variants).flatmap(
                lambda variant: (
                    objects(variant.fields).map(lambda text: f'{{"{variant.name}": {text}}}')
                    if variant.fields
                    else st.sampled_from([f'"{variant.name}"', f'{{"{variant.name}": {{}}}}'])
                )
            )
    return {
        INT: st.integers(-(2**63), 2**63 - 1).map(str),
        FLOAT: st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers().map(str),
        BOOL: st.sampled_from(["true", "false"]),
        STRING: st.text(max_size=8).flatmap(
            lambda text: st.booleans().map(lambda plain: json.dumps(text, ensure_ascii=plain))
        ),
    }[cast(Any, description)]


def _some_of(parts: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    kept = st.sampled_from([len(parts), len(parts), len(parts), max(0, len(parts) - 1)])
    return st.tuples(st.permutations(parts), kept).map(lambda drawn: drawn[0][: drawn[1]])


def objects(fields: list[FieldOf]) -> st.SearchStrategy[str]:
    def member(each: FieldOf) -> st.SearchStrategy[str]:
        return st.deferred(lambda: json_texts(each.type)).map(lambda text: f'"{each.name}": {text}')

    members = [member(each) for each in fields]
    # An optional field may be left out; others are left out now and then, too, which then does not fit.
    return st.tuples(*members).flatmap(_some_of).map(lambda parts: f"{{{','.join(parts)}}}")


@st.composite
def answers(draw: st.DrawFn) -> tuple[Description, str]:
    wanted: Description = draw(st.sampled_from(WANTED))
    text = draw(json_texts(wanted))
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 4)))
        text = text[:start] + draw(st.sampled_from([*SCRAPS, *NOISE, ""])) + text[end:]
    frame = draw(st.sampled_from(["{}", "{}", " {}\n", "```json\n{}\n```", "````\n{}\n````", "```\n{}```", "{} x"]))
    return wanted, frame.replace("{}", text)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answers())
def test_answers_fit_or_do_not(answer: tuple[Description, str]) -> None:
    wanted, text = answer
    scenario = Scenario(Agent("A"), [[("ask", "a")]], {"replies": [{"text": text}]}, wanted=wanted)
    assert_agree(scenario)


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    )
)
def test_scripted_answers_are_encoded_alike(value: Value) -> None:
    text = json.dumps(value)
    if "NaN" not in text and "Infinity" not in text:
        assert_agree(Scenario(Agent("A"), [[("ask", "a")]], {"replies": [{"answer": value}]}, wanted=MOOD))


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_dry_runs_show_the_same_value(wanted: Description) -> None:
    seen = run_native(Scenario(Agent("A"), [[("ask", 'say "{x}"\n')]], {"replies": []}, True, wanted))
    model = run_model(Scenario(Agent("A"), [[("ask", 'say "{x}"\n')]], {"replies": []}, True, wanted))
    assert (seen.err, seen.report) == (model.err, model.report)
    assert seen.err.startswith("[dry run] ask(")
