"""A single-process original as the N ranks of a job: it is run as N twins, which the job must equal.

Each twin is a process of the unedited original. The hook gives it the batches and random states of its rank
and averages gradients between twins when the job does. So the original becomes a distributed program, and
whatever it computes, prints and saves can be compared with the job's.
"""
