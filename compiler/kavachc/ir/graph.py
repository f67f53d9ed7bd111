"""The control flow of one function: order, predecessors, dominators. Made once, and stale after a change of blocks."""

from __future__ import annotations

from kavachc.ir.module import Block, Function


class Graph:
    """`order` is a reverse postorder of the blocks that can be reached; the others appear nowhere here."""

    def __init__(self, function: Function) -> None:
        self.order = _reverse_postorder(function.blocks[0])
        self.index = {block: index for index, block in enumerate(self.order)}
        self.predecessors: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for successor in block.successors():
                self.predecessors[successor].append(block)
        self._enter: list[int] = []
        self._leave: list[int] = []

    def is_back_edge(self, source: Block, target: Block) -> bool:
        return self.index[target] <= self.index[source]

    def dominates(self, first: Block, second: Block) -> bool:
        """Whether every way to `second` leads through `first` (a block dominates itself)."""
        if not self._enter:
            self._number_dominator_tree()
        one, other = self.index[first], self.index[second]
        return self._enter[one] <= self._enter[other] and self._leave[other] <= self._leave[one]

    def _immediate_dominators(self) -> list[int]:
        """By index in `order`; the entry's is itself.

        In a graph where every way back leads to a dominator, a block's is the nearest common ancestor of its
        forward predecessors'. The lowering makes only such graphs; others take the slow way.
        """
        tree = _Ancestors(len(self.order))
        for number in range(1, len(self.order)):
            sources = [self.index[source] for source in self.predecessors[self.order[number]]]
            forward = [source for source in sources if source < number]
            parent = forward[0]
            for source in forward[1:]:
                parent = tree.nearest_common(parent, source)
            tree.add(number, parent)
        for number, block in enumerate(self.order):
            for predecessor in self.predecessors[block]:
                other = self.index[predecessor]
                if other >= number and tree.nearest_common(number, other) != number:
                    return self._immediate_dominators_of_any()
        return tree.parents

    def _immediate_dominators_of_any(self) -> list[int]:
        """The iteration of Cooper, Harvey and Kennedy."""
        dominators = [-1] * len(self.order)
        dominators[0] = 0
        changed = True
        while changed:
            changed = False
            for number in range(1, len(self.order)):
                new = -1
                for predecessor in self.predecessors[self.order[number]]:
                    other = self.index[predecessor]
                    if dominators[other] == -1:
                        continue
                    while new not in (-1, other):
                        if other > new:
                            other = dominators[other]
                        else:
                            new = dominators[new]
                    new = other
                if dominators[number] != new:
                    dominators[number] = new
                    changed = True
        return dominators

    def _number_dominator_tree(self) -> None:
        children: list[list[int]] = [[] for _ in self.order]
        for number, dominator in enumerate(self._immediate_dominators()):
            if number > 0:
                children[dominator].append(number)
        self._enter = [0] * len(self.order)
        self._leave = [0] * len(self.order)
        clock = 0
        stack = [(0, False)]
        while stack:
            number, done = stack.pop()
            clock += 1
            if done:
                self._leave[number] = clock
                continue
            self._enter[number] = clock
            stack.append((number, True))
            stack.extend((child, False) for child in children[number])

    def dead_ends(self) -> set[Block]:
        """Blocks from which every way ends in `unreachable`: what is owned there need not be given up."""
        returning = [block for block in self.order if self._returns_or_loops(block)]
        living = set(returning)
        while returning:
            for predecessor in self.predecessors[returning.pop()]:
                if predecessor not in living:
                    living.add(predecessor)
                    returning.append(predecessor)
        return {block for block in self.order if block not in living}

    def _returns_or_loops(self, block: Block) -> bool:
        successors = block.successors()
        if not successors:
            return block.terminator.op.name != "unreachable"
        return any(self.is_back_edge(block, successor) for successor in successors)


class _Ancestors:
    """A growing tree that finds nearest common ancestors in logarithmic time, by a second, longer link upwards."""

    def __init__(self, count: int) -> None:
        self.parents = [0] * count
        self._depths = [0] * count
        self._jumps = [0] * count

    def add(self, number: int, parent: int) -> None:
        jump = self._jumps[parent]
        even = self._depths[parent] - self._depths[jump] == self._depths[jump] - self._depths[self._jumps[jump]]
        self.parents[number] = parent
        self._depths[number] = self._depths[parent] + 1
        self._jumps[number] = self._jumps[jump] if even else parent

    def nearest_common(self, one: int, other: int) -> int:
        depths, jumps, parents = self._depths, self._jumps, self.parents
        if depths[one] < depths[other]:
            one, other = other, one
        while depths[one] > depths[other]:
            one = jumps[one] if depths[jumps[one]] >= depths[other] else parents[one]
        while one != other:
            if jumps[one] != jumps[other]:
                one, other = jumps[one], jumps[other]
            else:
                one, other = parents[one], parents[other]
        return one


def _reverse_postorder(entry: Block) -> list[Block]:
    seen = {entry}
    postorder: list[Block] = []
    # Successors are visited last to first, so that straight code comes out in the order in which it was written.
    stack = [(entry, entry.successors())]
    while stack:
        block, rest = stack[-1]
        while rest and rest[-1] in seen:
            rest.pop()
        if rest:
            successor = rest.pop()
            seen.add(successor)
            stack.append((successor, successor.successors()))
        else:
            postorder.append(block)
            stack.pop()
    return postorder[::-1]
