"""One emitter per op, in a table keyed by the op's name."""

from __future__ import annotations

from kavachc.backend.emitters import aggregates, calls, control, effects, library, maps, memory, scalars, tasks
from kavachc.backend.llvm_function import Emitter

EMITTERS: dict[str, Emitter] = {
    **scalars.EMITTERS,
    **memory.EMITTERS,
    **aggregates.EMITTERS,
    **maps.EMITTERS,
    **calls.EMITTERS,
    **tasks.EMITTERS,
    **effects.EMITTERS,
    **library.EMITTERS,
    **control.EMITTERS,
}
