"""The lab notes as studies: what a note did, run again, and every claim of it put to the test."""
