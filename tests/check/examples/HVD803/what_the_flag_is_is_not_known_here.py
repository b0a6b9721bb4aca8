# Reported: what the flag is, is not known here

import horovod.torch as hvd

hvd.init()
total = hvd.allreduce(count, average=flag)
