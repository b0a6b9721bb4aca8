"""`hvdkit timeline`: what Horovod's timeline of a job says about its speed, and what to change."""
