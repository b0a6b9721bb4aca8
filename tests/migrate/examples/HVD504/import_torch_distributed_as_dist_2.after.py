import horovod.torch as hvd

def collect(scores, everyone, rank):
    objects = hvd.allgather_object(scores, name="everyone")
    if rank == 0:
        everyone[:] = objects
    return everyone
