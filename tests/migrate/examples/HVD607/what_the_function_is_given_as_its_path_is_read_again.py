# Kept: what the function is given as its path is read again, and so are the settings
# Options: --suggested

import pickle
import torch

def write(things, path):
    with open(path, "wb") as file:
        pickle.dump(things, file)

loss.backward()
optimizer.step()
write(words, "words.pkl")
with open("words.pkl", "rb") as file:
    words = pickle.load(file)
pickle.dump(settings, open("settings.pkl", "wb"))
settings = pickle.load(open("settings.pkl", "rb"))
