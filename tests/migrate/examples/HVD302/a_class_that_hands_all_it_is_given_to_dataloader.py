# Changed: A class that hands all it is given to DataLoader is one.

from torch.utils.data import DataLoader

class DataLoaderX(DataLoader):
    def __iter__(self):
        return BackgroundGenerator(super().__iter__())

loader = DataLoaderX(data, batch_size=8, shuffle=True)
test = DataLoaderX(test_data, batch_size=8)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
for x in test:
    model(x)
