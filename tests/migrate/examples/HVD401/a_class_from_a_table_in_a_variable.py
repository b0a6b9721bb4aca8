# Changed: A class from a table, in a variable that is not written like a class.

import torch

KINDS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}

def chosen(name):
    return KINDS[name]

model = torch.nn.Linear(2, 1)
make = chosen("adam")
optimizer = make(model.parameters(), lr=0.1)
model(x).sum().backward()
