import horovod.torch as hvd

class Trainer:
    def __init__(self, net):
        self.model = net.cuda()
        hvd.broadcast_parameters(self.model.state_dict(), root_rank=0)
