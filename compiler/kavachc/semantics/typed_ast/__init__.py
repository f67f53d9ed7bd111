"""The typed program: every name resolved, every type known, every implicit step written out.

Made by the checker; walked by the interpreter and by the lowering, which agree on the program because they read
the same tree. Rules that hold for every tree without errors:
  - children are evaluated in the order in which they stand in the node, left to right;
  - conversions (to `Error`, to a capability) are nodes of their own;
  - an expression of type NEVER leaves (return, break, continue, fail, a panic) and gives no value;
  - a fallible call stands directly inside a `Try` or a `Catch` (or is what a `Spawn` starts).
"""

from kavachc.semantics.typed_ast.declarations import *
from kavachc.semantics.typed_ast.expressions import *
from kavachc.semantics.typed_ast.patterns import *
from kavachc.semantics.typed_ast.statements import *
