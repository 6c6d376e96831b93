"""The version of this package. It stands here too, so that an uninstalled copy knows it."""

VERSION = "0.3.0"
