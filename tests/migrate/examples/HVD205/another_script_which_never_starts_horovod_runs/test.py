import torch
from train import validate

validate(torch.nn.Linear(2, 1))
