"""How each failure that `hvdkit explain --log` knows is really made to happen, and its log taken.

`python tests/explain/provoke.py` makes the logs of tests/explain/logs again.
"""
