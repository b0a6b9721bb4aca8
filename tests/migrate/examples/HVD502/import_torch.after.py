import horovod.torch as hvd

handle = hvd.broadcast_async_(value, root_rank=src)
prepare()
hvd.synchronize(handle)
