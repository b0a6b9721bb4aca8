# Kept: the split has a seed of its own

from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, random_split

train, test = train_test_split(data, random_state=4)
for x in DataLoader(train):
    model(x).sum().backward()
