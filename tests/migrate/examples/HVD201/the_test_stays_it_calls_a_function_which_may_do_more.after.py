import horovod.torch as hvd

net = net if is_distributed() else net
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
