"""`hvdkit explain`: what a rule does, and what a failed or hanging job's output says about its cause.

command -> log (lines by rank, tracebacks; marks of the launchers) -> causes (one file each) -> verdict ->
report. What several causes ask of a log is a module each: who ended first (ended), what merely follows
(follows), who waits for whom (waiting), who ended the job from outside (scheduler), what a library belongs
to (libraries). Reads text only: neither torch, TensorFlow nor Horovod is needed, and nothing is started.
"""
