# Reported: each rank would draw into the same windows of the server, whose names the calls give back

import torch
import visdom

plots = visdom.Visdom(env="train")
window = plots.line([0.0])
loss.backward()
optimizer.step()
plots.line([loss.item()], win=window, update="append")
