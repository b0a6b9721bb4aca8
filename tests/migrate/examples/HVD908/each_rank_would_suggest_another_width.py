# Reported: each rank would suggest another width

import optuna
import torch

def objective(trial):
    model = torch.nn.Linear(2, trial.suggest_int("width", 1, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    optimizer.step()
    return loss.item()

optuna.create_study().optimize(objective, n_trials=8)
