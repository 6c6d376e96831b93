"""The lab notes: run their studies again and decide their claims; import logs and files of the published code."""
