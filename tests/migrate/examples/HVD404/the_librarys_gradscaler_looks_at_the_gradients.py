# Reported: the library's GradScaler looks at the gradients before it steps

import torch
from ignite.engine import create_supervised_trainer

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss, amp_mode="amp", scaler=True)
trainer.run(batches, max_epochs=3)
