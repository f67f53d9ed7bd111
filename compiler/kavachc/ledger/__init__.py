"""`kavachc ledger`: what a state file holds, as text, JSON or a page."""
