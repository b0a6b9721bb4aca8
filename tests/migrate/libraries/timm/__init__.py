"""Stands in for timm: what test_steps_run.py uses of it."""
