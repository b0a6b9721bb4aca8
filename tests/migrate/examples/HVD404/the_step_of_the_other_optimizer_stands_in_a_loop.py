# Changed: The step of the other optimizer stands in a loop, behind a pass of its own.

import torch

maker, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
makes = torch.optim.Adam(maker.parameters())
judges = torch.optim.Adam(critic.parameters())
for x in batches:
    makes.zero_grad()
    critic(maker(x)).sum().backward()
    makes.step()
    made = maker(x).detach()
    for _ in range(2):
        judges.zero_grad()
        critic(made).sum().backward()
        judges.step()
