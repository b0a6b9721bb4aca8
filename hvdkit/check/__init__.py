"""`hvdkit check`: what is silently wrong in scripts that already use Horovod."""
