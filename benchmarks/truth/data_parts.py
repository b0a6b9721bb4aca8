"""The text of what a generated program trains and validates on: data sets, splits, samplers, loaders."""

from __future__ import annotations

from truth.choices import Choices

DATA = {
    "two-sets": ["train_set, val_set = Numbers(0, {train}), Numbers(1, {val})"],
    "split": ["data = Numbers(0, {all})", "train_set, val_set = random_split(data, [{train}, {val}])"],
    "seeded-split": [
        "data = Numbers(0, {all})",
        "split = torch.Generator().manual_seed(7)",
        "train_set, val_set = random_split(data, [{train}, {val}], generator=split)",
    ],
    "permuted": [
        "data = Numbers(0, {all})",
        "order = torch.randperm(len(data)).tolist()",
        "train_set, val_set = Subset(data, order[:{train}]), Subset(data, order[{train}:])",
    ],
    "shuffled": [
        "data = Numbers(0, {all})",
        "order = list(range(len(data)))",
        "random.shuffle(order)",
        "train_set, val_set = Subset(data, order[{val}:]), Subset(data, order[:{val}])",
    ],
    "picked": [
        "data = Numbers(0, {all})",
        "picked = set(random.sample(range(len(data)), {val}))",
        "train_set = Subset(data, [i for i in range(len(data)) if i not in picked])",
        "val_set = Subset(data, sorted(picked))",
    ],
    "hash-order": [
        "data = Numbers(0, {all})",
        'names = list({{f"item{{i}}" for i in range(len(data))}})',
        "order = [int(name[4:]) for name in names]",
        "train_set, val_set = Subset(data, order[:{train}]), Subset(data, order[{train}:])",
    ],
    "subset-samplers": [
        "train_set = val_set = Numbers(0, {all})",
        "order = list(range(len(train_set)))",
        "random.shuffle(order)",
        "train_sampler = SubsetRandomSampler(order[{val}:])",
        "val_sampler = SubsetRandomSampler(order[:{val}])",
    ],
}


def data(choices: Choices, train: int, val: int) -> list[str]:
    """What is trained and validated on."""
    return [line.format(train=train, val=val, all=train + val) for line in DATA[choices["data"]]]


def sampler(choices: Choices) -> list[str]:
    """The training's sampler, where it has one."""
    if choices.sometimes:
        return ["$train_sampler = DistributedSampler(train_set) if $distributed else None"]
    if choices.distributed:
        return ["$train_sampler = DistributedSampler(train_set, num_replicas=$world_size, rank=$rank)"]
    if choices["order"] == "weighted":
        return [
            "weights = torch.ones(len(train_set))",
            "train_sampler = WeightedRandomSampler(weights, len(weights), replacement=True)",
        ]
    if choices["order"] == "random-sampler":
        return ["train_sampler = RandomSampler(train_set)"]
    return []


def loaders(choices: Choices, batch: int) -> list[str]:
    """The loaders of training and validation."""
    made = sampler(choices)
    name = "$train_sampler" if choices.distributed else "train_sampler"
    subsets = choices["data"] == "subset-samplers"
    given = name if made or subsets else ""
    if choices["loaders"] == "function":
        val = ", val_sampler" if subsets else ""
        return [
            *made,
            f'$train_loader = make_loader(train_set, "train"{", " + given if given else ""})',
            f'$val_loader = make_loader(val_set, "val"{val})',
        ]
    shuffled = "shuffle=True" if choices["order"] != "in-order" else "shuffle=False"
    order = f"sampler={given}" if given else shuffled
    if choices.sometimes:
        order = f"shuffle={name} is None, sampler={name}"
    train = f"DataLoader(train_set, batch_size={batch}, {order}, drop_last=True)"
    val = f"DataLoader(val_set, batch_size={batch}{', sampler=val_sampler' if subsets else ''})"
    if choices["loaders"] == "dictionary":
        return [*made, "$loaders = {", f'    "train": {train},', f'    "val": {val},', "}"]
    return [*made, f"$train_loader = {train}", f"$val_loader = {val}"]
