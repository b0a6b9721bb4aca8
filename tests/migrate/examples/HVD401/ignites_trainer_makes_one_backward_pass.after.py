import horovod.torch as hvd
import torch
from ignite.engine import create_supervised_trainer

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
trainer.run(batches, max_epochs=3)
