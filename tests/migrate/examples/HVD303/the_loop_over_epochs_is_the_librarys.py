# Reported: the loop over epochs is the library's: a handler of its own has to tell the sampler

import torch
from ignite.engine import create_supervised_trainer

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, shuffle=True)
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss)
trainer.run(loader, max_epochs=3)
