"""Calls that write files, and which processes reach them."""
