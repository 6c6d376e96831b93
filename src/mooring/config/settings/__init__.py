"""Every setting there is, in one place: for the terminal, for the page, and for whoever misspells one."""

from mooring.config.settings.index import (
    SECTIONS,
    Setting,
    all_keys,
    all_settings,
    choices,
    keys_ending,
    matching,
    matching_keys,
    note_words,
)

__all__ = [
    "SECTIONS",
    "Setting",
    "all_keys",
    "all_settings",
    "choices",
    "keys_ending",
    "matching",
    "matching_keys",
    "note_words",
]
