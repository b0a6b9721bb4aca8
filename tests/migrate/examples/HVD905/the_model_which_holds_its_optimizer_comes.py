# Reported: the model, which holds its optimizer, comes from a file that is imported by its name

import torch

module = __import__(args.network)
critic = module.Critic().cuda()
for x in torch.utils.data.DataLoader(data, batch_size=4):
    critic.optimizer.zero_grad()
    critic(x).sum().backward()
    critic.optimizer.step()
