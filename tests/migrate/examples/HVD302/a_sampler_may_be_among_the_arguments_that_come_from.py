# Reported: a sampler may be among the arguments that come from **

from torch.utils.data import DataLoader

def options(**given):
    return given

for x in DataLoader(data, **options(sampler=mine)):
    model(x).backward()
    optimizer.step()
