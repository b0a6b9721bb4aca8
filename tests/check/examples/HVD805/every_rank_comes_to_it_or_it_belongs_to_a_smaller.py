# Kept: every rank comes to it, or it belongs to a smaller process set

import horovod.torch as hvd

hvd.init()
if hvd.size() > 1:
    loss = hvd.allreduce(local_loss)
members = hvd.add_process_set([0])
if hvd.rank() == 0:
    hvd.allreduce_(local_loss, process_set=members)
