"""What stands between this machine, or these hosts, and a Horovod job. Looks and tells; changes nothing."""
