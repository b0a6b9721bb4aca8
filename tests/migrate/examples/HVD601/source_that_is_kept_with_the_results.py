# Changed: Source that is kept with the results: only a person reads it.

import shutil
import torch

shutil.copy("models/%s.py" % args.model, str(folder))
loss.backward()
optimizer.step()
