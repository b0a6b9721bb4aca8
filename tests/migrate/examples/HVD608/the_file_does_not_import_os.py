# Reported: the file does not import os; the standard error stream is no file

import logging
import torch

def main(folder):
    logging.basicConfig(filename=folder + "/train.txt", level=logging.INFO)
    loss.backward()
    optimizer.step()

logging.basicConfig(level=logging.INFO)
main("runs")
