"""`hvdkit explain`: what a rule does, and what a failed or hanging job's output says about its cause.

command -> log (lines by rank, tracebacks) -> causes (one file each) -> verdict -> report. Reads text only:
neither torch, TensorFlow nor Horovod is needed, and nothing is started.
"""
