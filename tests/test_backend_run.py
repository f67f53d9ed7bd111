"""Every op, executed: as a binary on both machines and in this process, with and without optimisation."""

from __future__ import annotations

from pathlib import Path

import pytest
from backend_programs import run_binary, run_here
from backend_samples import PANICS, SAMPLES
from kavachc.backend.llvm_object import LEVEL_MAX
from kavachc.backend.op_emitters import EMITTERS
from kavachc.backend.targets import TARGETS
from kavachc.engines import emulator_for
from kavachc.ir.ops import OPS

LEVELS = (0, 2)


def _skip_without_emulator(target: str) -> None:
    if emulator_for(target) is None:
        pytest.skip(f"nothing here runs {target}")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLES)
def test_binary(name: str, target: str, level: int, tmp_path: Path) -> None:
    _skip_without_emulator(target)
    assert run_binary(SAMPLES[name], target, level, tmp_path) == SAMPLES[name].expected


@pytest.mark.parametrize("level", range(LEVEL_MAX + 1))
@pytest.mark.parametrize("name", SAMPLES)
def test_in_process(name: str, level: int) -> None:
    assert run_here(SAMPLES[name], level) == SAMPLES[name].expected


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PANICS)
def test_panic(name: str, target: str, level: int, tmp_path: Path) -> None:
    _skip_without_emulator(target)
    assert run_binary(PANICS[name], target, level, tmp_path) == PANICS[name].expected


def test_every_op_has_an_emitter_and_is_run() -> None:
    assert set(EMITTERS) == set(OPS)
    run = {
        instruction.op.name
        for program in (*SAMPLES.values(), *PANICS.values())
        for function in program.module.functions.values()
        for block in function.blocks
        for instruction in block.instructions
    }
    assert set(OPS) - run == set()
