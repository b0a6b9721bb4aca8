# Reported: the folder with the pictures is read
# Options: --suggested

import os
import cv2
import torch

def folder(path):
    os.makedirs(path, exist_ok=True)

def read(path):
    return [os.path.join(path, name) for name in sorted(os.listdir(path))]

folder(args.out)
for epoch in range(3):
    model(x).sum().backward()
    optimizer.step()
    cv2.imwrite(f"{args.out}/{epoch}.png", x.numpy())
    score = distance(args.out, args.data)
