# Kept: no backward pass runs inside the loop: it evaluates

from torch.utils.data import DataLoader

for x in DataLoader(data, batch_size=8):
    print(model(x))
loss.backward()
