import logging
import torch

def make():
    logger = logging.getLogger('a')
    logger.addHandler(logging.FileHandler('a.txt'))
    return logger

logger = make()
