"""The text form of the IR, for people, goldens and tests. `parser.py` reads it back.

    entry main
    asks
    sends

    record Point {
      x: int
    }

    function main() -> nothing ! error waits "main.kav" @1:1 {
      local &total: int
    entry:
      %1: int = const.int 5
      local.set &total %1
      %2: outcome<int, error> = call half plain %1 @2:9
      ...
    }

An instruction is the op, then its attributes, then its operands; terminators have their operands first.
"""

from __future__ import annotations

from kavachc.ir.module import (
    Agent,
    Attribute,
    Block,
    Capability,
    Cases,
    Field,
    Function,
    Instruction,
    Local,
    Method,
    Module,
    Record,
    Rule,
    Sum,
    Value,
    Variant,
    Vtable,
)
from kavachc.ir.ops import ATTRIBUTE_KINDS
from kavachc.ir.text import float_text, name_text, string_text
from kavachc.ir.types import IrType, ending_text


def print_module(module: Module) -> str:
    """The whole module, in the order of its tables."""
    parts = [f"entry {name_text(module.entry)}\n"] if module.entry else []
    parts.extend(["asks\n"] if module.can_ask else [])
    parts.extend(["sends\n"] if module.can_send else [])
    parts.extend(_waiting_shape(*shape) for shape in sorted(module.waiting_shapes))
    parts.extend(_record(record) for record in module.records.values())
    parts.extend(_sum(sum) for sum in module.sums.values())
    parts.extend(_capability(capability) for capability in module.capabilities.values())
    parts.extend(_agent(agent) for agent in module.agents)
    parts.extend(_vtable(vtable) for vtable in module.vtables.values())
    parts.extend(print_function(function) for function in module.functions.values())
    return "\n".join(parts)


def print_function(function: Function) -> str:
    return _FunctionPrinter(function).text()


def _body(head: str, lines: list[str]) -> str:
    return "".join([f"{head} {{\n", *(f"  {line}\n" for line in lines), "}\n"])


def _field(field: Field) -> str:
    hidden = "hidden " if field.is_hidden else ""
    rule = "" if field.rule is None else f" where {string_text(field.rule.text)} {name_text(field.rule.check)}"
    return f"{hidden}{name_text(field.name)}: {field.type}{rule}"


def _record(record: Record) -> str:
    head = f"record {name_text(record.name)}"
    return _body(head, [_field(field) for field in record.fields])


def _variant(variant: Variant) -> str:
    fields = f"({', '.join(_field(field) for field in variant.fields)})" if variant.fields else ""
    return f"{name_text(variant.name)}{fields}"


def _sum(sum: Sum) -> str:
    head = f"sum {name_text(sum.name)}"
    return _body(head, [_variant(variant) for variant in sum.variants])


def _signature_end(result: IrType, error: IrType | None, waits: bool) -> str:
    return f"{ending_text(result, error)}{' waits' if waits else ''}"


def _method(method: Method) -> str:
    parameters = ", ".join(str(type) for type in method.parameters)
    return f"{name_text(method.name)}({parameters}){_signature_end(method.result, method.error, method.waits)}"


def _waiting_shape(parameter_count: int, can_fail: bool) -> str:
    return f"waits fn {parameter_count}{' !' if can_fail else ''}\n"


def _capability(capability: Capability) -> str:
    return _body(f"capability {name_text(capability.name)}", [_method(method) for method in capability.methods])


def _rule(rule: Rule) -> str:
    bound = float_text(rule.bound) if isinstance(rule.bound, float) else str(rule.bound)
    sign, keyed = "<" if rule.strict else "<=", " keyed" if rule.keyed else ""
    return f"  {rule.kind} {string_text(rule.text)} {sign} {bound} per {rule.window_ns}{keyed}"


def _agent(agent: Agent) -> str:
    lines = [
        f"model {string_text(agent.model.name)} {agent.model.max_tokens} {name_text(agent.model.provider)} "
        f"at {string_text(agent.model.base_url)} budget {agent.model.context_budget} within {agent.model.timeout_ns}",
        f"settings {name_text(agent.asks_under_way)} {name_text(agent.mode)}",
        f"capabilities [{', '.join(name_text(name) for name in agent.capabilities)}]",
    ]
    for limit in agent.limits:
        lines += [f"limit {name_text(limit.target)} {{", *(_rule(rule) for rule in limit.rules), "}"]
    return _body(f"agent {name_text(agent.name)}", lines)


def _vtable(vtable: Vtable) -> str:
    functions = ", ".join(name_text(name) for name in vtable.functions)
    head = f"vtable {name_text(vtable.name)} {name_text(vtable.capability)} {vtable.payload}"
    return f"{head} [{functions}]\n"


class _FunctionPrinter:
    """Numbers the values of one function in the order of the text."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._names: dict[Value, str] = {}
        self._count = 0
        for parameter in function.parameters:
            self._name(parameter, parameter.name)
        for block in function.blocks:
            for instruction in block.instructions:
                if instruction.result is not None:
                    self._name(instruction.result, "")

    def _name(self, value: Value, name: str) -> None:
        if not name:
            self._count += 1
        self._names[value] = f"%{name_text(name) if name else self._count}"

    def value(self, value: Value) -> str:
        # A value that nothing defines is an error that the verifier reports, with this text.
        return self._names.get(value, "%?")

    def text(self) -> str:
        function = self._function
        parameters = ", ".join(f"{self.value(item)}: {item.type}" for item in function.parameters)
        end = _signature_end(function.result, function.error, function.waits)
        owns = " owns" if function.owns_parameters else ""
        location = "" if function.location is None else f" @{function.location.line}:{function.location.column}"
        if function.captures is not None:
            owns += f" captures [{', '.join(str(item) for item in function.captures)}]"
        if function.title is not None and function.title != function.name:
            owns += f" titled {string_text(function.title)}"
        elif function.title is None:
            owns += " untitled"
        head = f"function {name_text(function.name)}({parameters}){end}{owns} {string_text(function.file)}{location}"
        lines = [f"{head} {{\n"]
        lines.extend(f"  local &{name_text(local.name)}: {local.type}\n" for local in function.locals)
        for block in function.blocks:
            lines.append(f"{name_text(block.name)}:\n")
            lines.extend(f"  {self.instruction(instruction)}\n" for instruction in block.instructions)
        lines.append("}\n")
        return "".join(lines)

    def instruction(self, instruction: Instruction) -> str:
        op = instruction.op
        attributes = [
            _attribute(value, ATTRIBUTE_KINDS[name])
            for name, value in zip(op.attributes, instruction.attributes, strict=False)
        ]
        operands = ", ".join([self.value(operand) for operand in instruction.operands])
        words = [op.name, operands, *attributes] if op.terminator else [op.name, *attributes, operands]
        text = " ".join([word for word in words if word])
        if instruction.result is not None:
            text = f"{self.value(instruction.result)}: {instruction.result.type} = {text}"
        if instruction.location is not None:
            text += f" @{instruction.location.line}:{instruction.location.column}"
        return text


def print_instruction(function: Function, instruction: Instruction) -> str:
    """One instruction as it stands in the text of `function`."""
    return _FunctionPrinter(function).instruction(instruction)


def value_text(function: Function, value: Value) -> str:
    """The name of a value in the text of `function`."""
    return _FunctionPrinter(function).value(value)


def _attribute(value: Attribute, kind: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, str):
        if kind in ("value", "text"):
            return string_text(value)
        return name_text(value) if kind == "name" else value
    if isinstance(value, Block):
        return name_text(value.name)
    if isinstance(value, Local):
        return f"&{name_text(value.name)}"
    if isinstance(value, Cases):
        return f"[{', '.join(f'{number}: {name_text(block.name)}' for number, block in value.targets)}]"
    return str(value)
