import horovod.torch as hvd

def sync(value, op=hvd.Sum):
    hvd.allreduce_(value, op=op)
    return value

sync(x)
sync(y, hvd.Max)
