"""Stands in for apex, which needs a CUDA compiler to install: what test_steps_run.py uses of it."""
