"""An actor, two critics and a temperature with an optimizer each, as in cleanrl's SAC; a digest of all."""

import hashlib
import itertools
import os
from pathlib import Path

import torch
import torch.nn.functional as F

AUTOTUNE = True

if __name__ == "__main__":
    torch.manual_seed(3)
    actor = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    qf1, qf2 = torch.nn.Linear(6, 1), torch.nn.Linear(6, 1)
    qf1_target, qf2_target = torch.nn.Linear(6, 1), torch.nn.Linear(6, 1)
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = torch.optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=0.01)
    actor_optimizer = torch.optim.Adam(list(actor.parameters()), lr=0.01)
    if AUTOTUNE:
        log_alpha = torch.zeros(1, requires_grad=True)
        alpha = log_alpha.exp().item()
        a_optimizer = torch.optim.Adam([log_alpha], lr=0.05)
    else:
        alpha = 0.2
    for step in range(12):
        obs, actions, rewards, next_obs = (torch.randn(8, n) for n in (4, 2, 1, 4))
        with torch.no_grad():
            next_actions = actor(next_obs).tanh()
            both = torch.cat([next_obs, next_actions], 1)
            next_q = rewards + 0.9 * (torch.min(qf1_target(both), qf2_target(both)) - alpha)
        given = torch.cat([obs, actions], 1)
        qf_loss = F.mse_loss(qf1(given), next_q) + F.mse_loss(qf2(given), next_q)
        q_optimizer.zero_grad()
        qf_loss.backward()
        q_optimizer.step()
        if step % 2 == 0:
            for _ in range(2):
                pi = actor(obs).tanh()
                log_pi = -(pi**2).sum(1, keepdim=True)
                taken = torch.cat([obs, pi], 1)
                actor_loss = (alpha * log_pi - torch.min(qf1(taken), qf2(taken))).mean()
                actor_optimizer.zero_grad()
                actor_loss.backward()
                actor_optimizer.step()
                if AUTOTUNE:
                    with torch.no_grad():
                        log_pi = -(actor(obs).tanh() ** 2).sum(1, keepdim=True)
                    alpha_loss = (-log_alpha.exp() * (log_pi - 2.0)).mean()
                    a_optimizer.zero_grad()
                    alpha_loss.backward()
                    a_optimizer.step()
                    alpha = log_alpha.exp().item()
        for q, target in ((qf1, qf1_target), (qf2, qf2_target)):
            for p, p_target in zip(q.parameters(), target.parameters()):
                p_target.data.copy_(0.1 * p.data + 0.9 * p_target.data)
    digest = hashlib.sha256()
    models = (actor, qf1, qf2, qf1_target, qf2_target)
    for p in itertools.chain([log_alpha], *(model.parameters() for model in models)):
        digest.update(p.detach().numpy().tobytes())
    Path(os.environ["RESULTS"], f"{os.getpid()}.txt").write_text(digest.hexdigest())
