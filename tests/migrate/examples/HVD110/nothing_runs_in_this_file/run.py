import torch

if __name__ == '__main__':
    Scaler().update(loss, optimizer)
