# Changed.

import horovod.torch as hvd

hvd.init()
start = read_epoch() if hvd.rank() == 0 else 0
hvd.broadcast_object(start, root_rank=0)
for epoch in range(start, 10):
    train(epoch)
