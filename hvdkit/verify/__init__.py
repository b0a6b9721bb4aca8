"""`hvdkit verify`: run an original and its migration, record both from outside, and compare step by step.

    detect     how the original is started, read from its code
    workcopy   a copy of the current folder for each run
    runner     starts a run, watches it, ends it with everything it started
    hook       what goes into the processes of a run through the environment
    records    what a run left: data, nothing else
    compare    the first difference between two runs, and what usually causes it
    report     the result for people and as JSON

It does not judge whether training converges: it shows that two programs compute the same.
"""
