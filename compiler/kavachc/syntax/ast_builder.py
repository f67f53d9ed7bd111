"""Builds the tree while the parser runs: one method for each production of `grammar.lark`.

A method gets the production's span and its children: nodes for rules, `Token`s for terminals that the grammar
names in upper case, None for an absent `[x]`. Children are built before their parents, so nothing here recurses.
"""

from __future__ import annotations

from kavachc.syntax.building.declarations import DeclarationBuilder
from kavachc.syntax.building.expressions import ExpressionBuilder
from kavachc.syntax.building.patterns import PatternBuilder


class AstBuilder(DeclarationBuilder, ExpressionBuilder, PatternBuilder):
    """See `BuilderBase` for how it is made."""
