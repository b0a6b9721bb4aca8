import horovod.torch as hvd

mine[0] = hvd.broadcast_object(tasks, root_rank=0, name="mine")[hvd.rank()]
