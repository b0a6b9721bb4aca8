import horovod.torch as hvd

work = hvd.allreduce_async_(total, op=hvd.Sum)
if not hvd.poll(work):
    hvd.synchronize(work)
hvd.allreduce_(count, op=hvd.Sum)
