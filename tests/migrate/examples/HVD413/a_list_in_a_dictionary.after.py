import horovod.torch as hvd
import torch
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, shuffle=True)
history = {"val": []}
def train_epoch():
    total = 0
    for x in loader:
        opt.zero_grad(); loss = model(x).sum(); loss.backward(); opt.step()
        total += loss.item()
    return total
epoch, patience = 0, 0
while hvd.broadcast_object(bool(patience < 5), root_rank=0):
    history["val"].append(train_epoch())
    if len(history["val"]) > 1 and history["val"][-1] > min(history["val"][:-1]):
        patience += 1
    epoch += 1
