# Changed.

from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

train_sampler = RandomSampler(train_data)
loader = DataLoader(train_data, sampler=train_sampler, batch_size=8)
test = DataLoader(test_data, sampler=SequentialSampler(test_data), batch_size=8)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
for x in test:
    model(x)
