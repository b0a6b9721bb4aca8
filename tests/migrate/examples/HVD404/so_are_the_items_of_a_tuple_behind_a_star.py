# Changed: So are the items of a tuple behind a star.

import torch

def train(model, optimizer, scaler, batches):
    for x in batches:
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

optimizer = torch.optim.Adam(model.parameters())
things = (model, optimizer, torch.cuda.amp.GradScaler())
train(*things, batches)
