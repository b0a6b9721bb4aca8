"""Bytes of a person to a Source: encodings, notebooks, where things lie in the text."""
