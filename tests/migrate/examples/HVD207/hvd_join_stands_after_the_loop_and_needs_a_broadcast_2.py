# Reported: hvd.join() stands after the loop and needs a broadcast

from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
with Join([model]):
    train(model)
