"""Horovod for PyTorch with the traps taken out: `import hvdkit.torch as hvd` instead of horovod.torch.

Every public name of horovod.torch is here, `init` returns this rank's context, and the helpers below are
added. See docs/torch.md for each of them in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hvdkit.torch.agreement import FailedElsewhereError as FailedElsewhereError
from hvdkit.torch.arguments import add_arguments as add_arguments
from hvdkit.torch.arguments import optimizer_arguments as optimizer_arguments
from hvdkit.torch.backend import HorovodMissingError as HorovodMissingError
from hvdkit.torch.broadcast import broadcast as broadcast
from hvdkit.torch.checkpoint import resume as resume
from hvdkit.torch.checkpoint import save as save
from hvdkit.torch.context import Context as Context
from hvdkit.torch.context import init as init
from hvdkit.torch.data import distribute as distribute
from hvdkit.torch.engine import hvd as _hvd
from hvdkit.torch.gradients import accumulate as accumulate
from hvdkit.torch.gradients import clip_grad_norm_ as clip_grad_norm_
from hvdkit.torch.gradients import clip_grad_value_ as clip_grad_value_
from hvdkit.torch.gradients import scaler_step as scaler_step
from hvdkit.torch.lars import LARS as LARS
from hvdkit.torch.learning_rate import lr_factor as lr_factor
from hvdkit.torch.learning_rate import scale_lr as scale_lr
from hvdkit.torch.metrics import Mean as Mean
from hvdkit.torch.metrics import average as average
from hvdkit.torch.metrics import sum_ as sum_
from hvdkit.torch.optimizer import DistributedOptimizer as DistributedOptimizer
from hvdkit.torch.optimizer import unwrap as unwrap
from hvdkit.torch.ordering import main_process_first as main_process_first
from hvdkit.torch.progress import Progress as Progress
from hvdkit.torch.sampler import DistributedSampler as DistributedSampler
from hvdkit.torch.sampler import ShardedSampler as ShardedSampler
from hvdkit.torch.sync import check_sync as check_sync

# All else that the engine has: the names of horovod.torch.
globals().update(
    {name: value for name, value in vars(_hvd).items() if not name.startswith("_") and name not in globals()}
)

if TYPE_CHECKING:
    # Horovod has no type hints: its names exist, a type checker just cannot see them.
    def __getattr__(name: str) -> Any: ...
