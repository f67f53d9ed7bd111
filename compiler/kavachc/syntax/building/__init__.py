"""The parts of the tree's builder, by kind of node."""
