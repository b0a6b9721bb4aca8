import horovod.torch as hvd

hvd.allreduce_(loss, op=hvd.Sum), hvd.allreduce_(count, op=hvd.Max)
