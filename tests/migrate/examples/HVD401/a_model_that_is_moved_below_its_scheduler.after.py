import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
model.cuda()
optimizer = torch.optim.Adam(model.parameters())
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 20)


def train(x):
    model(x).sum().backward()
    optimizer.step()


for x in batches:
    model = model.train()
    train(x)
