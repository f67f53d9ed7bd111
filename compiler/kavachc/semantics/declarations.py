"""First pass of the checker: the names of the top level, and what the declarations say about types (spec 2, 6, 8.1).

Order is free, so all names are collected before any type expression is resolved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag, Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.builtins import BUILTIN_CAPABILITIES
from kavachc.semantics.conversions import bound_help, has_bound, why_not_shown
from kavachc.semantics.growth import check_growth_of_types
from kavachc.semantics.imports import bring_functions, bring_imports, mark_equal_names
from kavachc.semantics.type_names import resolve_type, type_parameters, variables_by_name
from kavachc.semantics.types import (
    BOOL,
    ERROR,
    NOTHING,
    UNKNOWN,
    AgentType,
    CapabilityMethod,
    CapabilityType,
    FieldInfo,
    FieldRule,
    NominalType,
    RecordType,
    SumType,
    Type,
    TypeVariable,
    VariantInfo,
    own_type,
)
from kavachc.semantics.wording import parameter_list, signature
from kavachc.semantics.world import BUILT_IN_NAMES, ConstantEntry, DefaultEntry, RuleEntry, World
from kavachc.syntax import ast
from kavachc.syntax.program_files import ProgramFiles


def declare(prelude: ast.Module, files: ProgramFiles, bag: DiagnosticBag) -> World:
    """The program's names and types: everything that declarations say, bodies and initialisers aside.

    The result is the prelude's view; `World.files` are the others.
    """
    world = World(prelude, bag)
    world.views[prelude.file] = world
    all_files = [Declarations(world)]
    all_files[0].collect_names()
    world.prelude_types.update(world.types)
    world.spans.clear()
    for module in files.modules:
        all_files.append(Declarations(world.view(module)))
        all_files[-1].collect_names()
    mark_equal_names(world)
    bring_imports(world, files)
    for stage in (
        Declarations.fill_type_parameters,
        Declarations.fill_capabilities,
        Declarations.fill_fields,
    ):
        for file in all_files:
            stage(file)
    check_growth_of_types(world)
    for file in all_files:
        file.fill_functions()
    bring_functions(world, files)
    # Only now are all fields known, so that an error type can be looked into.
    for file in all_files:
        file.check_error_types()
    return world


class Declarations:
    """Fills in `world` from the declarations of its module."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.records: list[tuple[RecordType, ast.RecordDeclaration]] = []
        self.sums: list[tuple[SumType, ast.SumDeclaration]] = []
        self.capabilities: list[tuple[CapabilityType, ast.CapabilityDeclaration]] = []
        self.functions: list[ast.Function] = []
        self.tests: list[ast.TestDeclaration] = []
        self.agents: list[typed.Agent] = []

    def collect_names(self) -> None:
        for declaration in self.world.module.declarations:
            if isinstance(declaration, ast.TestDeclaration):
                self.tests.append(declaration)
            elif self._claim(declaration):
                self._collect_name(declaration)

    def fill_type_parameters(self) -> None:
        for record, record_declaration in self.records:
            record.parameters = type_parameters(self.world, record_declaration.type_parameters)
        for sum_, sum_declaration in self.sums:
            sum_.parameters = type_parameters(self.world, sum_declaration.type_parameters)

    def fill_capabilities(self) -> None:
        for capability, declaration in self.capabilities:
            self._fill_capability(capability, declaration)

    def fill_fields(self) -> None:
        for record, record_declaration in self.records:
            self._fill_record(record, record_declaration)
        for sum_, sum_declaration in self.sums:
            self._fill_sum(sum_, sum_declaration)

    def fill_functions(self) -> None:
        for function in self.functions:
            self.world.functions[function.signature.name.text] = self._function(function, function.signature.name.text)
        for agent in self.agents:
            self._fill_handlers(agent)
        for test in self.tests:
            self._add_test(test)

    def check_error_types(self) -> None:
        for function_, declaration_ in self.world.bodies:
            if function_.span.file is self.world.module.file:
                check_error_type(self.world, function_.error, declaration_.signature.error)
        for capability, capability_declaration in self.capabilities:
            for method, written in zip(capability.methods, capability_declaration.methods, strict=False):
                check_error_type(self.world, method.error, written.error)

    def _claim(self, declaration: ast.Declaration) -> bool:
        """Take the declaration's name; False when an earlier one of the file has it."""
        name = ast.declared_name(declaration)
        if name.text in BUILT_IN_NAMES or name.text in self.world.prelude_types:
            self.world.bag.report(codes.BUILT_IN_NAME, name.span, name=name.text)
        first = self.world.spans.get(name.text)
        if first is not None:
            labels = (Label(first, "first declared here"),)
            self.world.bag.report(codes.DUPLICATE_NAME, name.span, name=name.text, labels=labels)
            return False
        self.world.spans[name.text] = name.span
        return True

    def _collect_name(self, declaration: ast.Declaration) -> None:
        world = self.world
        match declaration:
            case ast.Function():
                self.functions.append(declaration)
            case ast.ConstDeclaration():
                constant = typed.Constant(
                    declaration.name.text, UNKNOWN, typed.NothingValue(declaration.span, UNKNOWN), declaration.name.span
                )
                entry = ConstantEntry(declaration, constant)
                world.constants[declaration.name.text] = entry
                world.all_constants.append(entry)
            case ast.RecordDeclaration():
                record = RecordType(declaration.name.text, declaration.name.span, declaration.documentation)
                self._add_type(record)
                self.records.append((record, declaration))
            case ast.SumDeclaration():
                sum_ = SumType(declaration.name.text, declaration.name.span, declaration.documentation)
                self._add_type(sum_)
                self.sums.append((sum_, declaration))
            case ast.CapabilityDeclaration():
                capability = CapabilityType(declaration.name.text, declaration.name.span, declaration.documentation)
                self._add_type(capability)
                self.capabilities.append((capability, declaration))
            case ast.AgentDeclaration():
                agent_type = AgentType(declaration.name.text, declaration.name.span, declaration.documentation)
                self._add_type(agent_type)
                agent = typed.Agent(agent_type.name, len(world.agents), agent_type, declaration.name.span)
                world.agents[agent_type] = agent
                self.agents.append(agent)
                world.agent_declarations[agent_type] = declaration

    def _add_type(self, type_: NominalType) -> None:
        self.world.types[type_.name] = type_
        self.world.all_types.append(type_)

    def unique(self, names: Iterable[ast.Identifier]) -> None:
        """Report every name that was already among `names`."""
        first: dict[str, ast.Identifier] = {}
        for name in names:
            if name.text in first:
                labels = (Label(first[name.text].span, "first declared here"),)
                self.world.bag.report(codes.DUPLICATE_NAME, name.span, name=name.text, labels=labels)
            else:
                first[name.text] = name

    def _fields(
        self, owner: RecordType | SumType, title: str, variant: int | None, fields: Sequence[ast.Field]
    ) -> list[FieldInfo]:
        infos: list[FieldInfo] = []
        for index, item in enumerate(fields):
            type_ = resolve_type(self.world, item.type, variables_by_name(owner.parameters))
            rule = None if item.rule is None else self._rule(owner, title, item, item.rule, type_)
            if rule is not None:
                self.world.rules.append(RuleEntry(rule, item, (owner, variant, index)))
            has_default = item.default is not None
            infos.append(FieldInfo(item.name.text, type_, has_default, item.documentation, item.name.span, rule))
            if item.default is not None:
                self.world.defaults[owner, variant, index] = DefaultEntry(title, item, type_, owner.parameters)
        return infos

    def _rule(
        self, owner: RecordType | SumType, title: str, item: ast.Field, written: ast.Expression, type_: Type
    ) -> FieldRule:
        place = f"{title}.{item.name.text}"
        parameter = typed.Local(item.name.text, type_, False, item.name.span)
        function = typed.Function(
            f"{place}.where", (parameter,), BOOL, None, written.span, type_parameters=owner.parameters
        )
        return FieldRule(place, " ".join(written.span.text.split()), function)

    def _fill_record(self, record: RecordType, declaration: ast.RecordDeclaration) -> None:
        methods = [method.signature.name for method in declaration.methods]
        self.unique([*(item.name for item in declaration.fields), *methods])
        record.fields = self._fields(record, record.name, None, declaration.fields)
        if record.parameters and declaration.capabilities:
            written = declaration.capabilities[0]
            advice = f"give the methods of `{written.text}` to a type that holds a `{own_type(record)}` of fixed types"
            self.world.bag.report(codes.GENERIC_IMPLEMENTS, written.span, type=record, advice=advice)
            declaration = replace(declaration, capabilities=())
        for name in declaration.capabilities:
            found = self.world.types.get(name.text)
            if isinstance(found, CapabilityType):
                if found in record.capabilities:
                    self.world.bag.report(codes.DUPLICATE_NAME, name.span, name=name.text)
                else:
                    record.capabilities.append(found)
            elif name.text in BUILTIN_CAPABILITIES:
                self.world.bag.report(codes.NOT_A_CAPABILITY, name.span, name=name.text, what="built in")
            elif found is not None:
                self.world.bag.report(codes.NOT_A_CAPABILITY, name.span, name=name.text, what="a type")
            elif not self.world.is_spoiled(name.text):
                known = [str(item) for item in self.world.types.values() if isinstance(item, CapabilityType)]
                self.world.bag.report(
                    codes.UNKNOWN_CAPABILITY, name.span, name=name.text, help=self.world.help_for_name(name.text, known)
                )
        self._fill_methods(record, declaration.methods)

    def _fill_sum(self, sum_: SumType, declaration: ast.SumDeclaration) -> None:
        self.unique(variant.name for variant in declaration.variants)
        self.unique(method.signature.name for method in declaration.methods)
        variants: list[VariantInfo] = []
        for index, variant in enumerate(declaration.variants):
            self.unique(item.name for item in variant.fields)
            title = f"{sum_.name}.{variant.name.text}"
            fields = self._fields(sum_, title, index, variant.fields)
            shown = tuple(item for item in fields if not self._is_hidden(item))
            hidden = tuple(item for item in fields if self._is_hidden(item))
            variants.append(VariantInfo(variant.name.text, shown, variant.documentation, variant.name.span, hidden))
        sum_.variants = variants
        self._fill_methods(sum_, declaration.methods)

    def _is_hidden(self, info: FieldInfo) -> bool:
        """In the prelude, by its name."""
        return info.name.startswith("_") and info.span.file is self.world.prelude_file

    def _fill_methods(self, owner: RecordType | SumType, methods: Sequence[ast.Function]) -> None:
        known = self.world.methods.setdefault(owner, {})
        for declaration in methods:
            name = declaration.signature.name.text
            function = self._function(declaration, f"{owner.name}.{name}", receiver=owner)
            known.setdefault(name, function)

    def _fill_capability(self, capability: CapabilityType, declaration: ast.CapabilityDeclaration) -> None:
        self.unique(method.name for method in declaration.methods)
        for written in declaration.methods:
            if written.type_parameters:
                what = "a capability's method"
                self.world.bag.report(codes.NOT_GENERIC, written.type_parameters[0].span, what=what)
            variables = type_parameters(self.world, written.type_parameters)
            parameters, result, error = self._signature(written, variables)
            if written.takes_self:
                text = signature("fn", written.name.text, parameters, result, error)
                what = "a capability's declaration"
                self.world.bag.report(codes.SELF_NOT_ALLOWED, written.span, what=what, signature=text)
            refuse_mut(self.world, written, "a capability's method")
            if written.uses is not None:
                self.world.bag.report(codes.CAPABILITY_USES, written.span)
            capability.methods.append(
                CapabilityMethod(
                    written.name.text,
                    len(capability.methods),
                    tuple(name for name, _ in parameters),
                    tuple(type_ for _, type_ in parameters),
                    result,
                    error,
                    written.name.span,
                )
            )

    def _fill_handlers(self, agent: typed.Agent) -> None:
        declaration = self.world.agent_declarations[agent.type]
        self.unique(handler.signature.name for handler in declaration.handlers)
        for handler in declaration.handlers:
            name = handler.signature.name.text
            function = self._function(handler, f"{agent.name}.{name}", agent=agent)
            agent.handlers.setdefault(name, function)

    def _signature(
        self, written: ast.FunctionSignature, variables: Sequence[TypeVariable]
    ) -> tuple[list[tuple[str, Type]], Type, Type | None]:
        def resolve(type_: ast.TypeExpression) -> Type:
            return resolve_type(self.world, type_, known)

        known = variables_by_name(variables)
        self.unique(parameter.name for parameter in written.parameters if parameter.name.text != "_")
        parameters = [(item.name.text, resolve(item.type)) for item in written.parameters]
        result = NOTHING if written.result is None else resolve(written.result)
        error = None if written.error is None else resolve(written.error)
        return parameters, result, error

    def _add_test(self, declaration: ast.TestDeclaration) -> None:
        name = declaration.name
        first = next(
            (test for test in self.world.tests if (test.span.file, test.name) == (name.span.file, name.text)), None
        )
        if first is not None:
            labels = (Label(first.span, "the other one"),)
            self.world.bag.report(codes.TEST_TWICE, name.span, name=name.span.text, labels=labels)
        function = self._function(declaration.function, "test")
        self.world.tests.append(typed.Test(name.text, name.span, function))

    def _function(
        self,
        declaration: ast.Function,
        name: str,
        receiver: RecordType | SumType | None = None,
        agent: typed.Agent | None = None,
    ) -> typed.Function:
        """The typed function of a declaration, without its body; remembered so that the body is checked later."""
        written = declaration.signature
        outer = () if receiver is None else receiver.parameters
        own = type_parameters(self.world, written.type_parameters, outer)
        parameters, result, error = self._signature(written, (*outer, *own))
        word = "fn" if agent is None else "on"
        text = signature(
            word,
            f"{written.name.text}{parameter_list(own)}",
            parameters,
            result,
            error,
            takes_self=receiver is not None,
        )
        if written.takes_self and receiver is None:
            what = "a function" if agent is None else "a handler"
            self.world.bag.report(codes.SELF_NOT_ALLOWED, written.name.span, what=what, signature=text)
        if not written.takes_self and receiver is not None:
            self.world.bag.report(
                codes.SELF_MISSING, written.name.span, name=written.name.text, type=receiver, signature=text
            )
        locals_ = [
            typed.Local(item.name.text, type_, item.is_mutable, item.name.span, item.is_mutable)
            for item, (_, type_) in zip(written.parameters, parameters, strict=True)
        ]
        if agent is not None:
            refuse_mut(self.world, written, "a handler")
        if receiver is not None:
            mutable = written.self_is_mutable
            locals_.insert(0, typed.Local("self", own_type(receiver), mutable, written.name.span, mutable))
        function = typed.Function(name, tuple(locals_), result, error, written.name.span, agent)
        function.type_parameters = (*outer, *own)
        self.world.bodies.append((function, declaration))
        return function


def check_error_type(world: World, error: Type | None, written: ast.TypeExpression | None) -> None:
    """An error type is a record, a sum or `Error`, and can be shown, since `main` may have to."""
    if error is None or written is None or error is UNKNOWN or error is ERROR:
        return
    if isinstance(error, TypeVariable) and has_bound(error, "Error"):
        return
    reason = why_not_shown(error)
    if isinstance(error, TypeVariable):
        world.bag.report(codes.NOT_AN_ERROR_TYPE, written.span, type=error, help=bound_help(error, "Error"))
    elif not isinstance(error, RecordType | SumType):
        world.bag.report(codes.NOT_AN_ERROR_TYPE, written.span, type=error)
    elif reason is not None:
        world.bag.report(codes.NOT_AN_ERROR_TYPE, written.span, type=error, help=f"{reason}")


def refuse_mut(world: World, written: ast.FunctionSignature, what: str) -> None:
    """Where it is not known which function runs, or in whose task, nothing of the caller's is changed."""
    for parameter in written.parameters:
        if parameter.is_mutable:
            world.bag.report(codes.MUT_NOT_ALLOWED, parameter.span, what=what)
