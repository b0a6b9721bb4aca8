# Kept: reading weights starts no ranks: the training beside it may be plain PyTorch

import torch
from mmcv.runner import _load_checkpoint

class Backbone(torch.nn.Module):
    def init_weights(self, pretrained):
        self.load_state_dict(_load_checkpoint(pretrained)["state_dict"], False)
