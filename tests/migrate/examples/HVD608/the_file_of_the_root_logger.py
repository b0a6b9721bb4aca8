# Changed: The file of the root logger.

import logging
import os
import torch

def main(folder):
    logging.basicConfig(filename=folder + "/train.txt", level=logging.INFO)
    loss.backward()
    optimizer.step()

main(os.getcwd())
