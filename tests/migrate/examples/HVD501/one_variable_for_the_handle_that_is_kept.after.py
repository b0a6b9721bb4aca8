import horovod.torch as hvd

def reduce_all(tensors):
    reductions = []
    for tensor in tensors:
        reduction = hvd.allreduce_async_(tensor, op=hvd.Sum)
        reductions.append(reduction)
    for reduction in reductions:
        hvd.synchronize(reduction)
