import horovod.torch as hvd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(limit):
    worse = 0
    for epoch in range(100):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if hvd.broadcast_object(bool(loss > limit), root_rank=0):
            worse += 1
            if hvd.broadcast_object(bool(worse == 3), root_rank=0):
                return
        elif epoch == 50:
            return

train(0.5)
