import horovod.torch as hvd

generator = generator.to(device)
hvd.broadcast_parameters(generator.state_dict(), root_rank=0)
models = {"g": g, "d": d}
hvd.broadcast_parameters(models["g"].state_dict(), root_rank=0)
hvd.broadcast_parameters(models["d"].state_dict(), root_rank=0)
a, b = a, b
hvd.broadcast_parameters(a.state_dict(), root_rank=0)
hvd.broadcast_parameters(b.state_dict(), root_rank=0)
