# Kept: each rank comes to one of the two: the tests are opposite for every rank

import contextlib
import horovod.torch as hvd

hvd.init()

@contextlib.contextmanager
def first_one_first(local_rank):
    if local_rank not in (-1, 0):
        hvd.barrier()
    yield
    if local_rank == 0:
        hvd.barrier()

with first_one_first(hvd.local_rank()):
    load()
