"""`hvdkit verify`: run an original and its migration, record both from outside, and compare step by step.

    detect     how the original is started, read from its code
    scene      what was asked for; a work folder and hosts (shapes) for each run
    workfolder where a run is made: an overlay covers the current folder, or it is copied (workcopy)
    runner     starts a run, watches it, ends it with everything it started
    loaded     how the original is started, where only a run of it shows that
    hook       what goes into the processes of a run through the environment
    records    what a run left: data, nothing else
    compare    the first difference between two runs, and what usually causes it
    judge      the result of two runs, with its notes
    placement  what the program makes of the hosts of its ranks
    alone      a Horovod script without an original
    unreached  what the steps did not reach of the program
    report     the result for people and as JSON

It does not judge whether training converges: it shows that two programs compute the same.
"""
