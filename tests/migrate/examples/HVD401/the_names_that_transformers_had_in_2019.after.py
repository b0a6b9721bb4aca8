import horovod.torch as hvd
import torch
from pytorch_transformers.optimization import AdamW, WarmupLinearSchedule

model = torch.nn.Linear(2, 1)
optimizer = AdamW(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
schedule = WarmupLinearSchedule(optimizer, warmup_steps=10, t_total=100)
model(x).sum().backward()
optimizer.step()
schedule.step()
