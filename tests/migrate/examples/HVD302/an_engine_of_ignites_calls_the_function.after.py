import horovod.torch as hvd
import torch
from ignite.engine import Engine
from torch.utils.data.distributed import DistributedSampler

def update(engine, batch):
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    return loss.item()

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches_sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
batches = torch.utils.data.DataLoader(data, batch_size=4, sampler=batches_sampler)
trainer = Engine(update)
trainer.run(batches, max_epochs=3)
