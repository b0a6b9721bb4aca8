# Changed: The names that transformers had in 2019; schedules stand in the same module.

import torch
from pytorch_transformers.optimization import AdamW, WarmupLinearSchedule

model = torch.nn.Linear(2, 1)
optimizer = AdamW(model.parameters(), lr=0.1)
schedule = WarmupLinearSchedule(optimizer, warmup_steps=10, t_total=100)
model(x).sum().backward()
optimizer.step()
schedule.step()
