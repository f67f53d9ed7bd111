"""Windows as the plain-Python ledger and the tools keep them, and how frames of a state file are read into them."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from kavachc.state.format import DamagedError, Frame, Item, ItemKind, Moment, Name, amount_from, clamp
from kavachc.state.total import Total


@dataclass(frozen=True, slots=True)
class Reservation:
    """An ask that was let through and has not told what it took. `is_own`: of this process, which counts it as
    under way."""

    time_ns: int
    amount: int
    is_own: bool


@dataclass(eq=False, slots=True)
class Window:
    """The entries of the last `name.length_ns`, half open: one exactly that old is gone (spec 8.3.window)."""

    name: Name
    entries: deque[tuple[int, int | float]] = field(default_factory=deque)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    total: Total = field(init=False)
    number: int | None = None

    def __post_init__(self) -> None:
        self.total = Total(self.name.is_float)

    def expire(self, now_ns: int) -> None:
        while self.entries and now_ns - self.entries[0][0] >= self.name.length_ns:
            self.total.remove(self.entries.popleft()[1])
        for reference, reserved in list(self.reservations.items()):
            # One of this process is still under way, however old: what settles it must find it.
            if not reserved.is_own and now_ns - reserved.time_ns >= self.name.length_ns:
                del self.reservations[reference]

    def add(self, now_ns: int, amount: int | float) -> None:
        self.entries.append((now_ns, amount))
        self.total.add(amount)

    def take_back(self, time_ns: int) -> None:
        """Takes back what was added last, unless it has expired since."""
        if self.entries and self.entries[-1][0] == time_ns:
            self.total.remove(self.entries.pop()[1])

    def reserve(self, reference: int, reserved: Reservation) -> None:
        self.reservations[reference] = reserved

    @property
    def is_empty(self) -> bool:
        return not self.entries and not self.reservations

    @property
    def count(self) -> int:
        """With what other processes, or one that died, have reserved."""
        return len(self.entries) + sum(not reserved.is_own for reserved in self.reservations.values())

    @property
    def answered_total(self) -> int:
        return int(self.total.value) + sum(each.amount for each in self.reservations.values() if not each.is_own)

    def clear(self) -> None:
        self.entries.clear()
        self.reservations.clear()
        self.number = None
        self.total = Total(self.name.is_float)


@dataclass(slots=True)
class Windows:
    """All windows, by name and by their number in the state file. `boot` names the clock of this process, `process` is
    in the references of its reservations. `offsets`: how far UTC was ahead of each run's clock, at most."""

    boot: int = 0
    process: int = 0
    by_name: dict[Name, Window] = field(default_factory=dict)
    numbered: list[Window] = field(default_factory=list)
    offsets: dict[int, int] = field(default_factory=dict)
    saw_other_boot: bool = False

    def get(self, name: Name) -> Window:
        """The window of that name, made when there is none."""
        found = self.by_name.get(name)
        if found is None:
            found = self.by_name[name] = Window(name)
        return found

    def number(self, window: Window) -> int:
        window.number = len(self.numbered)
        self.numbered.append(window)
        return window.number

    def empty(self) -> None:
        """Forgets what the windows hold and their numbers, to read all of it from a file."""
        for window in self.by_name.values():
            window.clear()
        self.numbered.clear()
        self.offsets.clear()
        self.saw_other_boot = False

    def learn(self, moment: Moment) -> None:
        self.offsets[moment.boot] = max(self.offsets.get(moment.boot, moment.offset), moment.offset)

    def stamped(self, now: Moment) -> Moment:
        """The clock to write times with that were not made just now."""
        self.learn(now)
        return Moment(now.boot, now.boot_ns, clamp(now.boot_ns + self.offsets[now.boot]))

    def time_of(self, frame: Frame, utc_ns: int, now: Moment) -> int:
        """When an item was made, on this process's clock; never after now.

        One of this run of the machine keeps the moment that its clock gave it, whatever was done to UTC. One of an
        earlier run is known by UTC alone; of the readings that are possible, the latest counts."""
        moment = frame.moment
        if moment.boot == now.boot:
            return min(now.boot_ns, clamp(utc_ns - moment.offset))
        latest_ns = clamp(utc_ns + clamp(self.offsets[moment.boot] - moment.offset))
        return clamp(now.boot_ns - max(0, clamp(now.utc_ns - latest_ns)))

    def take(self, frame: Frame, now: Moment) -> None:
        """Raises `DamagedError` for what cannot have been written so."""
        for name in frame.names:
            self.number(self.get(name))
        for item in frame.items:
            if item.window >= len(self.numbered):
                raise DamagedError
            window = self.numbered[item.window]
            self._take_item(window, item, self.time_of(frame, item.utc_ns, now), now.boot_ns)
            if frame.moment.boot != now.boot and not window.is_empty:
                self.saw_other_boot = True

    def _take_item(self, window: Window, item: Item, time_ns: int, now_ns: int) -> None:
        amount = amount_from(item.amount, window.name.is_float)
        if not amount >= 0 or (isinstance(amount, float) and math.isnan(amount)):
            raise DamagedError
        if item.kind == ItemKind.RESERVE and isinstance(amount, int):
            is_own = item.reference >> 32 == self.process
            window.reserve(item.reference, Reservation(time_ns, amount, is_own))
            return
        if item.kind == ItemKind.SETTLE and isinstance(amount, int):
            window.reservations.pop(item.reference, None)
            if amount == 0:
                return
        elif item.kind != ItemKind.ENTRY:
            raise DamagedError
        # Records stand in the order in which they were made, whatever their stamps say.
        ordered_ns = max(time_ns, window.entries[-1][0]) if window.entries else time_ns
        if now_ns - ordered_ns < window.name.length_ns:
            window.add(ordered_ns, amount)

    def sweep(self, now_ns: int, pinned: set[Name]) -> None:
        """Lets every window go that holds nothing and that no rule keeps."""
        for window in list(self.by_name.values()):
            window.expire(now_ns)
            if window.is_empty and window.name not in pinned:
                del self.by_name[window.name]
