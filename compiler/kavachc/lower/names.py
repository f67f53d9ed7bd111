"""What the functions and vtables of a module are called.

The user's own have their Kavach names: one word (`main`) or two (`Bank.refund`). All others have three words or
more, so that nothing the user writes can meet them.
"""

from __future__ import annotations

from kavachc.semantics.typed_ast import Agent
from kavachc.semantics.types import CapabilityMethod, CapabilityType, RecordType

ENTRY = "kavach.main"


def vtable(record: RecordType, capability: CapabilityType) -> str:
    """How the record is the capability."""
    return f"vtable.{record}.{capability}"


def limit_vtable(agent: Agent, capability: CapabilityType) -> str:
    """How the capability is under the agent's limits."""
    return f"limit.{agent.name}.{capability}"


def thunk(vtable_name: str, method: CapabilityMethod) -> str:
    """What stands for the method in a vtable."""
    return f"{vtable_name}.{method.name}"


def closure(number: int, owner: str) -> str:
    """The code of a closure that is written in `owner`."""
    return f"closure.{number}.{owner}"


def function_value(function: str) -> str:
    """The code of a function that is named as a value."""
    return f"value.of.{function}"


def spawn_thunk(number: int, callee: str) -> str:
    """What a task runs to call `callee`."""
    return f"spawn.{number}.{callee}"
