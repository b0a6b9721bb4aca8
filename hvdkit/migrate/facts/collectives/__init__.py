"""Calls of collectives, their handles, and which values are the same on all ranks."""
