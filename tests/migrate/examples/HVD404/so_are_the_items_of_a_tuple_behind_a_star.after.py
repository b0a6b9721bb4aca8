import torch

def train(model, optimizer, scaler, batches):
    for x in batches:
        scaler.scale(model(x).sum()).backward()
        optimizer.synchronize()
        with optimizer.skip_synchronize():
            scaler.step(optimizer)
        scaler.update()

optimizer = torch.optim.Adam(model.parameters())
things = (model, optimizer, torch.cuda.amp.GradScaler())
train(*things, batches)
