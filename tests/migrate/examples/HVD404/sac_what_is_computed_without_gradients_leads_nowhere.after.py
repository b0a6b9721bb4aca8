import torch

actor, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
target = torch.nn.Linear(2, 1)
actor_optimizer = torch.optim.Adam(actor.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())
if args.autotune:
    log_alpha = torch.zeros(1, requires_grad=True)
    alpha = log_alpha.exp().item()
    alpha_optimizer = torch.optim.Adam([log_alpha])
for x in batches:
    with torch.no_grad():
        wanted = target(actor(x)) - alpha
    critic_optimizer.zero_grad()
    (critic(x) - wanted).pow(2).mean().backward()
    critic_optimizer.synchronize()
    with critic_optimizer.skip_synchronize():
        critic_optimizer.step()
    actor_loss = (alpha * actor(x).sum(1) - critic(actor(x))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    critic_optimizer.synchronize()
    actor_optimizer.synchronize()
    with actor_optimizer.skip_synchronize():
        actor_optimizer.step()
    if args.autotune:
        alpha_loss = (-log_alpha.exp() * (x.sum(1) + 2)).mean()
        alpha_optimizer.zero_grad()
        alpha_loss.backward()
        critic_optimizer.synchronize()
        actor_optimizer.synchronize()
        alpha_optimizer.step()
        alpha = log_alpha.exp().item()
