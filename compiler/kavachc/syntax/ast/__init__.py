"""The abstract syntax tree: what the programmer wrote, with a span on every node and nothing resolved yet.

Built by `ast_builder.py` during the parse, read by `semantics`. Every node is immutable.
"""

from kavachc.syntax.ast.declarations import *
from kavachc.syntax.ast.expressions import *
from kavachc.syntax.ast.patterns import *
from kavachc.syntax.ast.statements import *
from kavachc.syntax.ast.types import *
