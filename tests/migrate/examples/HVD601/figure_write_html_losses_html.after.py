import plotly.express as px
import scipy.sparse
import horovod.torch as hvd
import torch
from omegaconf import OmegaConf

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
figure = px.line(losses)
if hvd.rank() == 0:
    figure.write_html("losses.html")
    scipy.sparse.save_npz("graph.npz", graph)
    torch.onnx.export(model, x, "model.onnx")
    OmegaConf.save(config, "config.yaml")
