"""Trees as text, for `kavachc emit --stage ast` and `--stage typed`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from kavachc.semantics import typed_ast, types
from kavachc.semantics.wording import parameter_list
from kavachc.source import SourceFile, Span

# What other nodes point to by name rather than contain.
_NAMED = (
    typed_ast.Function,
    typed_ast.Constant,
    typed_ast.Agent,
    types.CapabilityMethod,
)

# Types that are shown as they are written.
_STRUCTURAL = (
    types.TypeVariable,
    types.PrimitiveType,
    types.ArrayType,
    types.OptionalType,
    types.TupleType,
    types.TaskType,
)


def dump(node: object) -> str:
    """The tree below `node`, one line a node, two spaces a level; spans are left out."""
    return "".join(f"{line}\n" for line in _lines(node, 0, "", top=True))


def dump_program(program: typed_ast.Program) -> str:
    """Every declaration of the typed program, constants, agents and functions in the order of the source."""
    parts: list[str] = []
    for constant in program.constants:
        parts.append(f"const {constant.name}: {constant.type}\n{dump(constant.value)}")
    for agent in program.agents:
        parts.append(
            f"agent {agent.name} {agent.model} {agent.settings}\n" + "".join(dump(item) for item in agent.limits)
        )
    for function in program.functions:
        generic = parameter_list(function.type_parameters)
        parameters = ", ".join(f"{item.name}: {item.type}" for item in function.parameters)
        error = f" ! {function.error}" if function.error is not None else ""
        uses = ", ".join(sorted(str(effect) for effect in function.effects)) or "nothing"
        facts = (" waits" if function.may_wait else "") + (" recursive" if function.is_recursive else "")
        result = f"{function.result}{error}"
        parts.append(f"fn {function.name}{generic}({parameters}) -> {result} uses {uses}{facts}\n{dump(function.body)}")
    return "\n".join(parts)


def _lines(node: object, depth: int, label: str, top: bool = False) -> Iterator[str]:
    indent = "  " * depth + (f"{label}: " if label else "")
    if isinstance(node, tuple | list):
        if not node:
            yield f"{indent}[]"
            return
        yield f"{indent}["
        for item in node:
            yield from _lines(item, depth + 1, "")
        yield "  " * depth + "]"
    elif isinstance(node, typed_ast.Local):
        yield f"{indent}{node.name}: {node.type}"
    elif isinstance(node, types.Type):
        yield f"{indent}{node}"
    elif isinstance(node, _NAMED) and not top:
        yield f"{indent}{node.name}"
    elif is_dataclass(node) and not isinstance(node, Span | SourceFile):
        children = [
            (item.name, getattr(node, item.name)) for item in fields(node) if item.name not in ("span", "operator_span")
        ]
        plain = [(name, value) for name, value in children if _is_plain(value)]
        words = "".join(f" {name}={_plain_text(value)}" for name, value in plain)
        yield f"{indent}{type(node).__name__}{words}"
        for name, value in children:
            if not _is_plain(value):
                yield from _lines(value, depth + 1, name)
    else:
        yield f"{indent}{node!r}"


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float, bool, *_STRUCTURAL))


def _plain_text(value: object) -> str:
    return str(value) if isinstance(value, _STRUCTURAL) else repr(value)
