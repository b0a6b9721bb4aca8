import horovod.torch as hvd

hvd.allreduce_(a.mul_(2), op=hvd.Product)
hvd.allreduce_(b, op=hvd.Sum)
hvd.allreduce_(c, op=hvd.Sum)
