# Changed: a move replaces what Horovod's hooks hang on, and the line could as well stand above the optimizer

import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 20)


def train(x):
    model(x).sum().backward()
    optimizer.step()


model.cuda()
for x in batches:
    model = model.train()
    train(x)
