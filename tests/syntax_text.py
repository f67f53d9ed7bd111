"""Helpers of the syntax tests: parsing a text, and writing a tree back with every parenthesis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from kavachc.diagnostics.diagnostic import Diagnostic, DiagnosticBag
from kavachc.source import SourceFile
from kavachc.syntax import ast
from kavachc.syntax.parser import parse


def read(text: str) -> tuple[ast.Module, list[Diagnostic]]:
    bag = DiagnosticBag()
    return parse(SourceFile("test.kav", text), bag), bag.items


def messages(text: str) -> list[str]:
    return [item.message for item in read(text)[1]]


def module(text: str) -> ast.Module:
    """The tree of a text without mistakes."""
    tree, found = read(text)
    assert not found, [item.message for item in found]
    return tree


def body(statements: str) -> tuple[ast.Statement, ...]:
    """The statements of a function body."""
    function = module(f"fn test() {{\n{statements}\n}}").declarations[0]
    assert isinstance(function, ast.Function)
    return function.body.statements


def expression(text: str) -> ast.Expression:
    (statement,) = body(text)
    assert isinstance(statement, ast.ExpressionStatement)
    return statement.expression


def grouped(text: str) -> str:
    """The expression `text` with parentheses around every part."""
    return write(expression(text))


def write(node: object) -> str:
    match node:
        case ast.IntLiteral(value=value) | ast.FloatLiteral(value=value):
            return repr(value)
        case ast.BoolLiteral(value=value):
            return str(value).lower()
        case ast.DurationLiteral(value_ns=value):
            return f"{value}ns"
        case ast.StringLiteral(parts=parts):
            return '"' + "".join(p if isinstance(p, str) else "{" + write(p) + "}" for p in parts) + '"'
        case ast.ArrayLiteral(elements=elements):
            return f"[{', '.join(map(write, elements))}]"
        case ast.MapLiteral(entries=entries):
            return f"[{', '.join(map(write, entries)) or ':'}]"
        case ast.MapEntry(key=key, value=value):
            return f"{write(key)}: {write(value)}"
        case ast.MapTypeExpression(key=key, value=value):
            return f"[{write(key)}: {write(value)}]"
        case ast.Name(text=text) | ast.Identifier(text=text):
            return text
        case ast.FieldAccess(target=target, name=name):
            return f"{write(target)}.{name.text}"
        case ast.IndexAccess(target=target, index=index):
            return f"{write(target)}[{write(index)}]"
        case ast.Call(callee=callee, type_arguments=types, arguments=arguments):
            of_types = f"<{', '.join(map(write, types))}>" if types else ""
            return f"{write(callee)}{of_types}({', '.join(map(write, arguments))})"
        case ast.Argument(name=name, value=value) | ast.FieldUpdate(name=name, value=value):
            return f"{name.text}: {write(value)}" if name else write(value)
        case ast.NamedType(name=name, arguments=types):
            return name.text + (f"<{', '.join(map(write, types))}>" if types else "")
        case ast.ArrayTypeExpression(element=element):
            return f"[{write(element)}]"
        case ast.NothingTypeExpression():
            return "()"
        case ast.FunctionTypeExpression(parameters=parameters, result=result, error=error):
            return f"(fn({', '.join(map(write, parameters))}){write_ending(result, error)})"
        case ast.Unary(operator=operator, operand=operand):
            return f"({operator}{write(operand)})"
        case ast.Try(operand=operand):
            return f"(try {write(operand)})"
        case ast.Spawn(call=call):
            return f"(spawn {write(call)})"
        case ast.Binary(operator=operator, left=left, right=right):
            return f"({write(left)} {operator} {write(right)})"
        case ast.RangeExpression(start=start, end=end, inclusive=inclusive):
            return f"({write(start)}{'..=' if inclusive else '..'}{write(end)})"
        case ast.With(target=target, updates=updates):
            return f"({write(target)} with {{ {', '.join(map(write, updates))} }})"
        case _:
            return write_control(node)


def write_ending(result: object, error: object) -> str:
    return (f" -> {write(result)}" if result else "") + (f" ! {write(error)}" if error else "")


def write_control(node: object) -> str:
    match node:
        case ast.Catch(operand=operand, binder=binder, handler=handler):
            return f"({write(operand)} catch {binder.text if binder else '_'} => {write(handler)})"
        case ast.Fail(error=error):
            return f"(fail {write(error)})"
        case ast.Return(value=value):
            return f"(return {write(value)})" if value else "(return)"
        case ast.Closure(parameters=parameters, result=result, error=error, body=inner, is_short=is_short):
            given = ", ".join(map(write, parameters))
            return f"(fn({given}){' =>' if is_short else write_ending(result, error)} {write(inner)})"
        case ast.ClosureParameter(name=name, type=type_):
            return f"{name.text}: {write(type_)}" if type_ else name.text
        case ast.Break():
            return "(break)"
        case ast.Continue():
            return "(continue)"
        case ast.Block(statements=statements):
            return "{ " + "".join(write(s) + "\n" for s in statements) + "}"
        case ast.ExpressionStatement(expression=inner):
            return write(inner)
        case ast.If(condition=condition, then=then, otherwise=otherwise):
            rest = f" else {write(otherwise)}" if otherwise else ""
            return f"if {write(condition)} {write(then)}{rest}"
        case ast.IfConst(binder=binder, value=value, then=then, otherwise=otherwise):
            rest = f" else {write(otherwise)}" if otherwise else ""
            return f"if const {write_pattern(binder)} = {write(value)} {write(then)}{rest}"
        case ast.NoneLiteral():
            return "none"
        case ast.TupleLiteral(elements=elements):
            return f"(tuple {', '.join(map(write, elements))})"
        case ast.Coalesce(value=value, otherwise=other):
            return f"({write(value)} ?? {write(other)})"
        case ast.Match(subject=subject, arms=arms):
            return f"match {write(subject)} {{ {', '.join(map(write, arms))} }}"
        case ast.MatchArm(pattern=pattern, guard=guard, body=arm_body):
            guarded = f" if {write(guard)}" if guard else ""
            return f"{write_pattern(pattern)}{guarded} => {write(arm_body)}"
        case _:
            raise AssertionError(f"not written: {node}")


def write_pattern(pattern: ast.Pattern) -> str:
    match pattern:
        case ast.WildcardPattern():
            return "_"
        case ast.NamePattern(name=name):
            return name.text
        case ast.LiteralPattern(value=value):
            return write(value)
        case ast.RangePattern(start=start, end=end, inclusive=inclusive):
            return f"{write(start)}{'..=' if inclusive else '..'}{write(end)}"
        case ast.TuplePattern(elements=elements):
            return f"({', '.join(map(write_pattern, elements))})"
        case ast.ArrayPattern(elements=elements, rest=rest):
            parts = list(map(write_pattern, elements))
            if rest is not None:
                parts.append(".." if rest.name is None else f"..{rest.name.text}")
            return f"[{', '.join(parts)}]"
        case ast.OrPattern(alternatives=alternatives):
            return " | ".join(map(write_pattern, alternatives))
        case ast.ConstructorPattern(path=path, arguments=arguments, has_arguments=has_arguments):
            inner = ", ".join((f"{a.name.text}: " if a.name else "") + write_pattern(a.pattern) for a in arguments)
            return ".".join(part.text for part in path) + (f"({inner})" if has_arguments else "")


def nodes(node: object) -> Iterator[ast.Node]:
    """`node` and every node in it that was written, without recursion: of a test's function, that is its body."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Node):
            yield current
        if isinstance(current, tuple):
            pending.extend(current)
        elif isinstance(current, ast.TestDeclaration):
            pending.append(current.function.body)
        elif is_dataclass(current) and isinstance(current, (ast.Node, ast.Module)):
            pending.extend(getattr(current, f.name) for f in fields(current) if f.name not in ("span", "file"))
