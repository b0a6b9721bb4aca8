"""A script of Lightning: two nodes with two processes each, which whoever starts it has to bring."""

import os

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _):
        inputs, targets = batch
        loss = (self.layer(inputs) - targets).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def on_train_epoch_end(self) -> None:
        # Lightning reduces what was logged after this hook: here it is the last step's mean.
        if self.trainer.is_global_zero:
            weight = self.layer.weight.sum().item()
            size = self.trainer.world_size
            print(f"epoch {self.current_epoch} of {size} ranks: weight {weight:.8f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


lightning.seed_everything(0)
inputs = torch.arange(256.0).view(64, 4) / 256
loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=4, shuffle=True)
lightning.Trainer(
    accelerator="cpu",
    devices=int(os.environ.get("DEVICES", "2")),
    num_nodes=int(os.environ.get("NODES", "2")),
    strategy="ddp",
    max_epochs=3,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Module(), loader)
torch.distributed.barrier()
os._exit(0)  # as in fsdp.py
