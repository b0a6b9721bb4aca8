"""zero_grad() between backward() and step()."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="zero_grad_early",
    title="zero_grad() is called between backward() and step(){where}",
    why=(
        "The gradients are being reduced: zeroing them would race with that. It also happens when"
        " one rank skips its step, as a GradScaler does after an overflow on that rank alone, and"
        " when a GAN's generator step leaves gradients in the discriminator."
    ),
    fix=(
        "call optimizer.zero_grad() before backward(); with a GradScaler call "
        "optimizer.synchronize() before scaler.unscale_() or scaler.step(), or hvdkit.torch's "
        "hvd.scaler_step(scaler, optimizer)"
    ),
    find=says(
        r"optimizer\.zero_grad\(\) was called after loss\.backward\(\) but before optimizer\.step\(\)",
    ),
    excerpt="""\
AssertionError: optimizer.zero_grad() was called after loss.backward() but before optimizer.step ...
""",
)
