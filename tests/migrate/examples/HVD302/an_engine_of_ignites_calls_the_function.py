# Changed: An engine of ignite's calls the function for each batch.

import torch
from ignite.engine import Engine

def update(engine, batch):
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    return loss.item()

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.utils.data.DataLoader(data, batch_size=4)
trainer = Engine(update)
trainer.run(batches, max_epochs=3)
