"""HVD823: gradients are clipped or read while they are being reduced."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.windows import first_reader, skips, synchronized, wait_before, windows
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        reader = first_reader(facts, window)
        if reader is None:
            continue
        message = "these gradients are still on their way between the ranks, and are read or changed here"
        if skips(window) or synchronized(facts, window) is not None:
            advice = "call optimizer.synchronize() between backward() and this line"
            yield facts.manual("HVD823", window.names, reader, message, advice)
        else:
            yield facts.safe("HVD823", window.names, reader, message, wait_before, window, reader)


RULE = Rule(
    id="HVD823",
    title="gradients are clipped before they are reduced",
    what=(
        "The norm is that of one rank's gradients, some of them averaged already and some not; each rank clips "
        "by another factor, and what is in flight is overwritten. In a small test the numbers often look right."
    ),
    why=(
        "Horovod reduces in the background, from backward() to step(). What reads gradients in between has to "
        "wait: optimizer.synchronize(), and then step() under optimizer.skip_synchronize()."
    ),
    safety="Safe: it is the order that Horovod's documentation gives. Left to you where clipping and step stand under different tests.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
        ),
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            scaler = torch.amp.GradScaler()
            for x in batches:
                optimizer.zero_grad()
                scaler.scale(model(x).sum()).backward()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            scaler = torch.amp.GradScaler()
            for x in batches:
                optimizer.zero_grad()
                scaler.scale(model(x).sum()).backward()
                optimizer.synchronize()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    scaler.step(optimizer)
                scaler.update()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            reason="the gradients are waited for",
        ),
        Keep(
            """\
            import hvdkit.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                hvd.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            """,
            reason="hvdkit's clipping waits by itself; after the step there is nothing to wait for",
        ),
    ),
)
