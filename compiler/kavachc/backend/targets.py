"""The machines that programs are built for."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from typing import Any

from llvmlite import binding

from kavachc.errors import ToolError
from kavachc.options import TARGET_NAMES


@dataclass(frozen=True, slots=True)
class Target:
    """`cpu` is the oldest machine that a binary must run on; `emulation` is the linker's name for the format."""

    name: str
    triple: str
    zig_target: str
    cpu: str
    emulation: str


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-none", "x86-64", "elf_x86_64"),
        Target("aarch64-linux", "aarch64-unknown-linux-gnu", "aarch64-linux-none", "generic", "aarch64linux"),
    )
}


class UnknownTarget(ToolError):
    """No target has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no target is called {name}; there are {', '.join(TARGETS)}", status=2)


def target_named(name: str) -> Target:
    found = TARGETS.get(name)
    if found is None:
        raise UnknownTarget(name)
    return found


def host_target() -> str:
    """The name of the target that this machine is."""
    return target_named(TARGET_NAMES.get(platform.machine(), platform.machine())).name


@functools.cache
def initialize_llvm() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def target_machine(target: Target, level: int) -> Any:
    """LLVM's code generator for a binary: `level` is 0 to 3."""
    initialize_llvm()
    return binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=level, reloc="static", codemodel="small"
    )


def host_machine(level: int) -> Any:
    """LLVM's code generator for this very machine, for code that stands anywhere in memory."""
    initialize_llvm()
    features = binding.get_host_cpu_features().flatten()
    return binding.Target.from_triple(target_named(host_target()).triple).create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


@functools.cache
def data_layout(target: Target) -> str:
    return str(target_machine(target, 0).target_data)
