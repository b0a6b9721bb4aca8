import torch

agent = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(agent.parameters())
for x in batches:
    optimizer.zero_grad()
    agent(x).sum().backward()
    optimizer.step()
