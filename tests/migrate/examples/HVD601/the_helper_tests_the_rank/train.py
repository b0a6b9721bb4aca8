# Kept: the helper tests the rank

import torch
from util import save_on_master

loss.backward()
save_on_master(model.state_dict(), "model.pt")
