"""Fusions that train at the server: a student learns from a teacher on images that somebody supplies."""
