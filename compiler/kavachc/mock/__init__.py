"""`kavachc mock-provider`: the scripted model over real HTTP, in the wire formats of the providers."""
