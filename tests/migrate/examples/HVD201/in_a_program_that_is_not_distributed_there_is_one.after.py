import horovod.torch as hvd

hvd.broadcast_parameters(net.state_dict(), root_rank=0)
other = make() if world > 1 else make()
hvd.broadcast_parameters(other.state_dict(), root_rank=0)
