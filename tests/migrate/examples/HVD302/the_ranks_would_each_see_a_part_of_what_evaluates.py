# Reported: the ranks would each see a part of what evaluates, and get results of their own

from torch.utils.data import DataLoader

def provide(flag):
    return DataLoader(read(flag), batch_size=8, shuffle=flag == "train")

def evaluate(loader):
    for x in loader:
        print(model(x))

train, test = provide("train"), provide("test")
for x in train:
    model(x).backward()
    optimizer.step()
evaluate(test)
