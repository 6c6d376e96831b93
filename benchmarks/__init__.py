"""How fast it is, measured side by side on the machine at hand: `make bench`."""
