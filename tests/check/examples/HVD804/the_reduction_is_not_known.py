# Kept: the reduction is not known

import horovod.torch as hvd

def mean(value, reduction):
    return hvd.allreduce(value, op=reduction) / hvd.size()

hvd.init()
