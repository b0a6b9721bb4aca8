import horovod.torch as hvd

model = net
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
