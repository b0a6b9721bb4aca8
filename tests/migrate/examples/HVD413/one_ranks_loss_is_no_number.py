# Reported: one rank's loss is no number, and the others wait for its gradients

import torch
from ignite.engine import Events, create_supervised_trainer
from ignite.handlers import TerminateOnNan

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
trainer.run(batches, max_epochs=3)
