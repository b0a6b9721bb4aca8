# Reported: whether something reads the folder of the pictures is not known
# Options: --suggested

import glob
import os
import cv2
import pandas as pd
import soundfile as sf
import torch
from PIL import Image

def folder(path):
    os.makedirs(path, exist_ok=True)

class Trainer:
    def __init__(self, out):
        self.out = out
        folder(os.path.join(self.out, "seen"))

    def weights(self):
        return sorted(glob.glob(os.path.join(self.out, "weights", "*.pt")))

    def train(self):
        for epoch in range(3):
            loss = net(x).sum()
            loss.backward()
            optimizer.step()
            cv2.imwrite(os.path.join(self.out, "seen", "%d.png" % epoch), x.numpy())
            Image.fromarray(x.numpy()).save(f"{self.out}/seen/{epoch}.jpg")
        table = self.out + "/losses.csv"
        pd.DataFrame(losses).to_csv(table, index=False)
        print("losses are in", table)
        path = os.path.join(self.out, "first.wav")
        sf.write(path, x, 16000)
        path = os.path.join(self.out, "last.wav")
        sf.write(path, y, 16000)

Trainer(args.out).train()
