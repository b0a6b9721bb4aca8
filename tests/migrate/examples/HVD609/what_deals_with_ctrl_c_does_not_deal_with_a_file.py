# Changed: What deals with Ctrl-C does not deal with a file that is gone.

import os
import torch

try:
    for step, batch in enumerate(batches):
        model(batch).sum().backward()
        optimizer.step()
        os.remove(f"model_{step - 1}.pt")
except KeyboardInterrupt:
    print("stopped")
