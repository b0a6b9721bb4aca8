# Reported: hvd.join() stands after the loop and needs a broadcast

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
with model.join():
    train(model)
