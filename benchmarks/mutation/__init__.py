"""The pieces of benchmarks/mutation.py, which mutates migrations and asks verify what it thinks of each."""
