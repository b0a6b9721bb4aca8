import horovod.torch as hvd

pair = hvd.add_process_set([0, 1])
hvd.allreduce_(total, op=hvd.Sum, process_set=pair)
