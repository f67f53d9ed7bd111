"""Emitters of ops, by subject. `op_emitters.py` has them all."""
