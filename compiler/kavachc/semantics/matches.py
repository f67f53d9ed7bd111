"""`match` (spec 3)."""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import DROPPED, Body, as_branch, branch_value
from kavachc.semantics.exhaustiveness import TooIntricate, missing_cases, unreachable
from kavachc.semantics.patterns import check_pattern
from kavachc.semantics.ranks import by_rank, with_absence
from kavachc.semantics.types import BOOL, NEVER, NOTHING, UNKNOWN, Type
from kavachc.semantics.wording import listed, quoted, single_spaced
from kavachc.syntax import ast


def check_match(body: Body, node: ast.Match, wanted: Type | None) -> typed.Expr:
    """A `match` as a value: every arm gives the wanted type, or that of the first arm that says its own."""
    subject = body.operand(node.subject)
    checked: dict[int, typed.MatchArm] = {}
    patterns_are_right = True
    bodies = [arm.body for arm in node.arms]
    for index in by_rank(body, bodies) if wanted is None else range(len(bodies)):
        arm = node.arms[index]
        body.scope.enter()
        pattern_errors = body.reported
        pattern = check_pattern(body, arm.pattern, subject.type)
        patterns_are_right = patterns_are_right and body.reported == pattern_errors
        guard = None if arm.guard is None else body.value(arm.guard, BOOL)
        result = branch_value(body, arm.body, wanted)
        if wanted is None:
            wanted = None if result.type is NEVER else with_absence(result.type, bodies)
            result = result if wanted is None else as_branch(body, result, wanted)
        checked[index] = typed.MatchArm(arm.span, pattern, guard, result)
        body.scope.leave()
    arms = [checked[index] for index in range(len(bodies))]
    if subject.type is not UNKNOWN and patterns_are_right:
        _check_coverage(body, node, subject.type, arms)
    giving = any(arm.body.type is not NEVER for arm in arms)
    type_: Type = NEVER
    if giving:
        type_ = NOTHING if wanted is DROPPED or wanted is None else wanted
    elif not arms:
        type_ = UNKNOWN
    return typed.Match(node.span, type_, subject, tuple(arms))


def _check_coverage(body: Body, node: ast.Match, subject: Type, arms: list[typed.MatchArm]) -> None:
    """Every value has an arm, and every arm a value."""
    try:
        for arm, alternative in unreachable(subject, arms):
            if alternative is None:
                body.report(codes.ARM_UNREACHABLE, arm.pattern.span)
            else:
                text = single_spaced(alternative.span.text)
                body.report(codes.ALTERNATIVE_UNREACHABLE, alternative.span, text=text)
        missing = missing_cases(subject, arms)
    except TooIntricate:
        body.report(codes.MATCH_TOO_INTRICATE, node.span)
        return
    if missing:
        shown = missing[:4]
        names = quoted(shown) if len(missing) == len(shown) else ", ".join(f"`{case}`" for case in shown) + " and more"
        arms_text = listed([f"`{case} => …`" for case in shown])
        body.report(codes.MATCH_MISSES, node.subject.span, missing=names, arms=arms_text)
