import hvdkit.torch as hvd

def wrap(net, gpu):
    hvd.broadcast(net)
    return net
