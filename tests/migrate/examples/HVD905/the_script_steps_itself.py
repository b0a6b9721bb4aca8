# Reported: the script steps itself: there is no optimizer that could average, and HVD416 is not asked to
# here

import torch

model = torch.nn.Linear(2, 1)
for x in torch.utils.data.DataLoader(data, batch_size=4):
    model(x).sum().backward()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
    model.zero_grad()
