"""The version of this package; the build reads it here, so that an uninstalled copy knows it too."""

VERSION = "0.2.0"
