# Kept: the callers of a function that hands on both may leave one of them None

import horovod.torch as hvd

hvd.init()


def reduce(value, average=None, op=None):
    return hvd.allreduce(value, average=average, op=op)
