# Changed: Copies that were made above have each rank's own weights.

import copy
import torch

actor = torch.nn.Linear(2, 1)
target = torch.nn.Linear(2, 1)
target.load_state_dict(actor.state_dict())
average = copy.deepcopy(actor).eval()
optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
actor(x).sum().backward()
