"""How a command ends when it is neither well nor a user's mistake (2, as every `MooringError` says)."""

FAILED = 3  # ended with less than all clients or runs
INTERRUPTED = 130  # by Ctrl-C
