import horovod.torch as hvd

hvd.allgather_object(metrics, name="metrics")
