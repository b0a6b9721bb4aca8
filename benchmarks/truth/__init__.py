"""The pieces of benchmarks/truth.py, which hunts the lies in what `hvdkit migrate` says."""
