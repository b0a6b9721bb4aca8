# Reported: the seed's generator is torch's, which has no name in this file

from torch.utils.data import DataLoader, random_split

train, test = random_split(data, [90, 10])
for x in DataLoader(train):
    model(x).sum().backward()
    optimizer.step()
