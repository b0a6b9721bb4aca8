import horovod.torch as hvd

def build(arch, gpu):
    model = arch().cuda(gpu)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    return model
