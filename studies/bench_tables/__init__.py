"""The tables of the bench, one file each: what is run, and what of it stands on the page."""
