"""`hvdkit completion`: the script with which a shell completes commands and options."""
