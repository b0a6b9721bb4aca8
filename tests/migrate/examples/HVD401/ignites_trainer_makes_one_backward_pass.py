# Changed: Ignite's trainer makes one backward pass, and one step, for each batch.

import torch
from ignite.engine import create_supervised_trainer

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
trainer.run(batches, max_epochs=3)
