# Kept: the helper initialises before it reads a rank: its caller is left alone

import torch
from tools import start

def main():
    start()

main()
