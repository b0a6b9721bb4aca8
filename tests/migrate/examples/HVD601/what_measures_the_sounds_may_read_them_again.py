# Reported: what measures the sounds may read them again, on all ranks

import scipy.io.wavfile
import soundfile as sf
import torch

def keep(sound, path):
    scipy.io.wavfile.write(path, 16000, sound.numpy())

loss.backward()
optimizer.step()
keep(model(x), "heard.wav")
sf.write("score.wav", sound, 16000)
