# Reported: what fails goes on with the next batch, and the others wait

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    try:
        loss = model(x).sum()
        if torch.isnan(loss):
            raise ValueError("diverged")
        else:
            loss.backward()
            optimizer.step()
    except ValueError as error:
        print(error)
