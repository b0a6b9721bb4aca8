import horovod.torch as hvd

def reduce_all(tensors):
    handles = []
    for tensor in tensors:
        handles.append(hvd.allreduce_async_(tensor, op=hvd.Sum))
    for handle in handles:
        hvd.synchronize(handle)
