"""The typed program as an IR module: tables first, then every function's name and signature, then the bodies."""

from __future__ import annotations

from collections.abc import Callable

from kavachc.ir import module as ir
from kavachc.ir.builder import FunctionBuilder
from kavachc.ir.module import Location, Module, Value
from kavachc.ir.types import ERROR, INT, NOTHING, Address, FunctionValue, IrType, Named
from kavachc.lower import agents, calls, closures, control, expressions, names, rules, spawns, statements
from kavachc.lower.function import FunctionLowering, Lowerings, Way
from kavachc.lower.settle import as_error
from kavachc.lower.types import Applications, add_type_tables, lower_error, lower_type
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.specialise import specialised
from kavachc.semantics.types import CapabilityType, FieldInfo, RecordType, SumType, Type
from kavachc.source import Span

LOWERINGS = Lowerings(
    {**expressions.LOWERINGS, **control.LOWERINGS, **calls.LOWERINGS, **closures.LOWERINGS},
    statements.LOWERINGS,
)


def lower(program: typed.Program) -> Module:
    """The IR of a checked program whose constants and settings are evaluated."""
    return ProgramLowering(program).run()


class ProgramLowering:
    """What the lowering of every function shares."""

    def __init__(self, source: typed.Program) -> None:
        self.source = source
        self.module = Module()
        self.lowerings = LOWERINGS
        self._names: dict[typed.Function, str] = {}
        self._spawn_thunks: dict[object, str] = {}
        self._applications = Applications(source, self.module, self._check_of)
        self._instances: dict[tuple[typed.Function, tuple[Type, ...]], typed.Function] = {}
        # Declared, and still to be lowered.
        self._waiting: list[Callable[[], None]] = []
        self._closures = 0

    def run(self) -> Module:
        self.module.waiting_shapes.update(
            (shape.parameter_count, shape.can_fail)
            for shape in self.source.shapes
            if shape.may_wait and shape.can_fail is not None
        )
        add_type_tables(self.source, self.module, self._check_of)
        self._applications.add_new()
        agents.add_agents(self.source, self.module)
        self.module.can_ask = self.source.can_ask
        self.module.can_send = self.source.can_send
        functions = _all_functions(self.source)
        for function in functions:
            self._declare_user_function(function)
        thunks = agents.declare_vtables(self)
        for function in functions:
            self._lower_body(function)
        for lower_thunk in thunks:
            lower_thunk()
        self._lower_entry()
        while self._waiting:
            self._waiting.pop(0)()
        return self.module

    # What other functions ask for.

    def function_name(self, function: typed.Function) -> str:
        return self._names[function]

    def callee(self, call: typed.CallFunction | typed.CallHandler) -> typed.Function:
        """The function that is called; of a generic one the instance, which is declared and will be lowered."""
        if isinstance(call, typed.CallHandler):
            return call.function
        return self.instance(call.function, call.type_arguments)

    def instance(self, function: typed.Function, type_arguments: tuple[Type, ...]) -> typed.Function:
        """The function, or the instance of a generic one."""
        if not type_arguments:
            return function
        key = (function, type_arguments)
        instance = self._instances.get(key)
        if instance is None:
            instance = specialised(function, type_arguments)
            self._instances[key] = instance
            self._applications.add_new()
            self._declare_user_function(instance)
            self.later(lambda: self._lower_body(instance))
        return instance

    def limit_vtable(self, agent: typed.Agent, capability: CapabilityType) -> str | None:
        """The vtable through which values of the capability are given to the agent, where it limits them."""
        name = names.limit_vtable(agent, capability)
        return name if name in self.module.vtables else None

    def spawn_thunk(self, call: typed.Expr, operands: list[Value]) -> str:
        """The function that a task runs for `call`; calls of one shape share it."""
        shape = spawns.shape(self, call, operands)
        name = self._spawn_thunks.get(shape)
        if name is None:
            name = names.spawn_thunk(len(self._spawn_thunks), spawns.callee_name(self, call))
            self._spawn_thunks[shape] = name
            spawns.lower_thunk(self, name, call, operands)
        return name

    def value_waits(self, function: Value) -> bool:
        """Whether calls of this function value may wait."""
        assert isinstance(function.type, FunctionValue)
        return function.type.shape in self.module.waiting_shapes

    def next_closure(self) -> int:
        """The number of one more closure."""
        self._closures += 1
        return self._closures - 1

    def _check_of(self, field: FieldInfo, holder: RecordType | SumType) -> str:
        """The function through which the runtime looks at a field, which is declared and will be lowered."""
        rule = field.rule
        assert rule is not None
        name = rules.check_name(rule, holder)
        declared = self.declare(
            name, rule.function.span, [("field", Address(lower_type(field.type)))], INT, None, False
        )
        self.later(lambda: rules.lower_check(self, declared, rule, holder))
        return name

    def later(self, lower: Callable[[], None]) -> None:
        """`lower` writes a function that is declared already, when the one being written is done."""
        self._waiting.append(lower)

    # Making functions.

    def declare(
        self,
        name: str,
        span: Span,
        parameters: list[tuple[str, IrType]],
        result: IrType,
        error: IrType | None,
        waits: bool,
        owns_parameters: bool = False,
        title: str | None = None,
    ) -> ir.Function:
        """A function without blocks, which others can call already. Without a `title` it is in no trace."""
        assert name not in self.module.functions, f"two functions are called {name}"
        line, column = span.file.position(span.start)
        function = ir.Function(
            name,
            span.file.path,
            _parameter_values(parameters),
            result,
            error,
            waits,
            owns_parameters,
            location=Location(line, column),
            title=title,
        )
        self.module.functions[name] = function
        return function

    def open(self, function: ir.Function, span: Span) -> FunctionLowering:
        """What lowers the body of a declared function; what it writes first stands at `span`."""
        state = FunctionLowering(self, FunctionBuilder(function, self.module), span.file)
        state.locate(span)
        return state

    def _declare_user_function(self, function: typed.Function) -> None:
        parameters = [(item.name, _parameter_type(item)) for item in function.parameters]
        if function.agent is not None:
            parameters.insert(0, ("handle", Named(function.agent.name)))
        elif function.needs_agent:
            parameters.insert(0, ("agent", INT))
        name = function.name
        while name in self.module.functions:
            # Another file has a function of this name.
            name += function.span.file.mark
        self._names[function] = name
        self.declare(
            name,
            function.span,
            parameters,
            lower_type(function.result),
            lower_error(function.error),
            function.may_wait,
            title=function.traced_name,
        )

    def _lower_body(self, function: typed.Function) -> None:
        declared = self.module.functions[self._names[function]]
        state = self.open(declared, function.span)
        visible = declared.parameters
        if function.agent is not None:
            state.handle, visible = visible[0], visible[1:]
            state.hidden_agent = function.agent.index
        elif function.needs_agent:
            state.hidden_agent, visible = visible[0], visible[1:]
        for local, value in zip(function.parameters, visible, strict=True):
            state.bind_parameter(local, value)
        assert function.body is not None, f"{function.name} has no body"
        with Way(state):
            state.leave_by_return(state.value_as(function.body, function.result))
        state.finish()

    def _lower_entry(self) -> None:
        main = self.source.main
        name = names.ENTRY
        while name in self.module.functions:
            name += ".entry"
        state = self.open(self.declare(name, main.span, [], NOTHING, ERROR, waits=True), main.span)
        state.counts_calls = False

        def fails(error: Value) -> None:
            state.leave_by_failure(as_error(state, error, ERROR))

        operands = [state.agent_number()] if main.needs_agent else []
        state.build.release(calls.call_function(state, main, operands, state.mark(), fails))
        state.leave_by_return(state.build.nothing())
        state.finish()
        self.module.entry = name


def _parameter_type(parameter: typed.Local) -> IrType:
    lowered = lower_type(parameter.type)
    return Address(lowered) if parameter.is_reference else lowered


def _all_functions(program: typed.Program) -> list[typed.Function]:
    """Functions, methods, handlers and rules of fields, each once, without those that are generic."""
    found = dict.fromkeys(program.functions)
    for agent in program.agents:
        found.update(dict.fromkeys(agent.handlers.values()))
    for implementation in program.implementations:
        found.update(dict.fromkeys(implementation.methods))
    found.update(dict.fromkeys(rule.function for rule in program.rules))
    found[program.main] = None
    return [function for function in found if not function.type_parameters]


def _parameter_values(parameters: list[tuple[str, IrType]]) -> list[Value]:
    """Parameters whose names differ, also from the hidden ones."""
    taken: set[str] = set()
    values: list[Value] = []
    for hint, type in parameters:
        name = hint
        number = 1
        while name in taken:
            name = f"{hint}{number}"
            number += 1
        taken.add(name)
        values.append(Value(type, name))
    return values
