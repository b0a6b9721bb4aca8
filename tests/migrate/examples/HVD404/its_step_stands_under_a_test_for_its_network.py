# Changed: Its step stands under a test for its network.

import torch

def train(batches, networks, optimizers, scaler):
    decoder, critic = networks
    decoder_optimizer, critic_optimizer = optimizers
    for x in batches:
        made = decoder(x)
        if critic is not None:
            critic_optimizer.zero_grad()
            scaler.scale(critic(made.detach()).sum()).backward()
            scaler.step(critic_optimizer)
        loss = made.sum()
        if critic is not None:
            loss = loss + critic(made).sum()
        decoder_optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(decoder_optimizer)
        scaler.update()

decoder = torch.nn.Linear(2, 2)
critic = torch.nn.Linear(2, 1) if adversarial else None
first = torch.optim.Adam(decoder.parameters())
if critic is not None:
    second = torch.optim.Adam(critic.parameters())
else:
    second = None
train(batches, [decoder, critic], [first, second], torch.cuda.amp.GradScaler())
