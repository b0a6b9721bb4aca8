# Kept: the log is opened while its file is imported, before Horovod starts

import torch
from log import logger

if __name__ == "__main__":
    loss.backward()
    optimizer.step()
    logger.info("done")
