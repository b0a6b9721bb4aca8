"""Calls and loops: what runs what, what is used, what the command line and the environment give."""
