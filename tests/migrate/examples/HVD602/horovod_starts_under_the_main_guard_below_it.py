# Kept: Horovod starts under the main guard, below it

import torch

print("starting")
loss.backward()

if __name__ == "__main__":
    main()
