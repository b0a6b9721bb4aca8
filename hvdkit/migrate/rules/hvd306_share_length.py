"""HVD306: what is added up over a rank's share is divided by the number of samples in it."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.data.means_over_batches import whole_counts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.samplers import gets_share

MESSAGE = "the loop now covers only this rank's share of the data, and this counted all of it"


def check(facts: Facts) -> Iterator[Finding]:
    divided = [loader for loader in every_loader(facts) if gets_share(facts, loader)]
    done = set()
    for count in whole_counts(facts, divided):
        if count.number not in done:
            done.add(count.number)
            source = count.names.source
            text = f"len({source.segment(count.loader)}.sampler)"
            make = (edits.replace, source, count.number, text)
            yield safe(facts, "HVD306", count.names, count.number, MESSAGE, *make)


RULE = Rule(
    id="HVD306",
    title="a mean is taken over the rank's share",
    what=(
        "Where the loop over a training loader that gets a DistributedSampler sums something, and the sum "
        "is divided by the length of the whole data set, divides by len(loader.sampler); the same applies "
        "to the progress that the loop prints."
    ),
    why=(
        "The sum is over 1/N of the samples: divided by the number of all of them, losses and accuracies "
        "would be reported N times too small."
    ),
    safety=(
        "Safe: in one process a sampler has as many samples as its data set. What is printed is the mean "
        "over the share of rank 0; that over all ranks is hvd.allreduce(torch.tensor(mean)), which all "
        "ranks have to call. Counts that are not the divisor of a sum over the loader stay, such as the N "
        "of a prior in a loss."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            data = Digits("train")
            loader = DataLoader(data, batch_size=8, shuffle=True)
            for epoch in range(3):
                total = right = 0.0
                for number, (x, y) in enumerate(loader):
                    loss = loss_of(model(x), y)
                    loss.backward()
                    optimizer.step()
                    total += loss.item() * x.size(0)
                    right = right + (model(x).argmax(1) == y).sum().item()
                    print(f"[{number * len(x)}/{len(loader.dataset)}]")
                total /= len(data)
                print(total, 100.0 * right / float(len(loader.dataset)))
            """,
            """\
            import torch
            from torch.utils.data import DataLoader

            data = Digits("train")
            loader = DataLoader(data, batch_size=8, shuffle=True)
            for epoch in range(3):
                total = right = 0.0
                for number, (x, y) in enumerate(loader):
                    loss = loss_of(model(x), y)
                    loss.backward()
                    optimizer.step()
                    total += loss.item() * x.size(0)
                    right = right + (model(x).argmax(1) == y).sum().item()
                    print(f"[{number * len(x)}/{len(loader.sampler)}]")
                total /= len(loader.sampler)
                print(total, 100.0 * right / float(len(loader.sampler)))
            """,
            note="Only this rule: HVD302 gives the loader its sampler.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, batch_size=8, shuffle=True)
            test = DataLoader(rest, batch_size=8)
            for x in loader:
                loss = loss_of(model(x)) + prior(model) / len(loader.dataset)
                loss.backward()
                optimizer.step()
            total = 0
            for x in test:
                total += loss_of(model(x)).item()
            print(total / len(test.dataset), total / len(data))
            """,
            reason="a prior's weight counts all data, and evaluation data stays whole",
        ),
    ),
)
