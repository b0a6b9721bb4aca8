# Kept: one run makes one of the two

import torch

model = torch.nn.Linear(2, 1)
if args.adam:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
