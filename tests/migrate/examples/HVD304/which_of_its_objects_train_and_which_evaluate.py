# Reported: which of its objects train and which evaluate is decided at run time

from torch.utils.data import DataLoader

class Digits(DataLoader):
    def __init__(self, data):
        super().__init__(data, batch_size=8, shuffle=True)

for x in Digits(data):
    model(x).sum().backward()
    optimizer.step()
