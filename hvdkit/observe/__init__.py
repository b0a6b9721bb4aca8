"""What is seen of a running script, by hooks that change nothing in it."""
