"""Encoders, prototype heads, and the network they make together."""
