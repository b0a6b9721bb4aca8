"""The text of each choice. `$name` is what the parts of a training share: a variable, or an attribute."""

from __future__ import annotations

from truth.choices import Choices
from truth.data_parts import sampler


def lines(text: str) -> list[str]:
    """The lines of a text; blank ones at its end stay, those that the quotes need do not."""
    return text.removeprefix("\n").removesuffix("\n").split("\n")


def network(choices: Choices) -> list[str]:
    """Net, of 4 numbers to one."""
    norm = "nn.BatchNorm1d(8)" if choices["model"] == "batch-norm" else "nn.ReLU()"
    return lines(f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 8), {norm})
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.backbone(x))


""")


MEASURES = {
    "mean": ("losses = []", "losses.append(loss.item())", "sum(losses) / len(losses)"),
    "meter": ("meter = Meter()", "meter.update(loss.item(), x.size(0))", "meter.avg"),
    "counted": (
        "total, count = 0.0, 0",
        "total, count = total + loss.item() * len(x), count + len(x)",
        "total / count",
    ),
}
METER = """
class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


"""


def validation(choices: Choices) -> list[str]:
    """A function that validates a model."""
    begin, add, end = MEASURES[choices["measure"]]
    meter = lines(METER) if choices["measure"] == "meter" else []
    return meter + lines(f"""
def validate(model, loader, device):
    model.eval()
    {begin}
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = nn.functional.mse_loss(model(x), y)
            {add}
    return {end}


""")


def data_set() -> list[str]:
    """Samples that a seed of their own makes, as files would."""
    return lines("""
class Numbers(Dataset):
    def __init__(self, seed, n):
        self.x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
        self.y = self.x.sum(1, keepdim=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


""")


TEACHER = """
class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)


"""
STOP = """
class Stop:
    def __init__(self, patience):
        self.patience, self.best, self.worse, self.early_stop = patience, None, 0, False

    def __call__(self, loss):
        if self.best is None or loss < self.best:
            self.best, self.worse = loss, 0
        else:
            self.worse += 1
            self.early_stop = self.worse >= self.patience


"""
SEED = """
def set_seed(seed):
    random.seed(seed)
    torch.manual_seed(seed)


"""
MAKE = """
def make_loader(data, flag{sampler}):
    {shuffle}
    return DataLoader(data, batch_size={batch}, {order}, drop_last=flag == "train")


"""


def helpers(choices: Choices) -> list[str]:
    """Classes and functions that the training needs."""
    found: list[str] = []
    if choices["model"] == "teacher":
        found += lines(TEACHER)
    if choices["stop"] == "class":
        found += lines(STOP)
    if choices["stop"] == "meter" and not (choices["measure"] == "meter" and choices["inference"] == "none"):
        found += lines(METER)
    if choices["seed"] == "function":
        found += lines(SEED)
    if choices["reduce"] == "helper":
        found += lines(REDUCE_HELPER)
    if choices["loaders"] == "function":
        given = bool(sampler(choices)) or choices["data"] == "subset-samplers"
        shuffled = choices["order"] != "in-order"
        found += lines(
            MAKE.format(
                sampler=", sampler=None" if given else "",
                shuffle=f'shuffle = flag == "train"{" and sampler is None" if given else ""}'
                if shuffled
                else "shuffle = False",
                batch=4,
                order="shuffle=shuffle, sampler=sampler" if given else "shuffle=shuffle",
            )
        )
    return found


def options(choices: Choices, epochs: int) -> dict[str, str]:
    """The options of the command line by name, each with the rest of its add_argument."""
    found = {"epochs": f"type=int, default={epochs}", "lr": "type=float, default=0.05"}
    if choices["device"] in ("option", "visible", "method"):
        found["gpu"] = "type=int, default=0"
    if choices["device"] == "text":
        found["device"] = 'default="cuda:0"'
    if choices["resume"] == "option":
        found["resume"] = 'default="last.pt"'
    if choices["launch"] == "no-ddp":
        found["noddp"] = 'action="store_true"'
    if choices["launch"] == "local-rank":
        found["local_rank"] = "type=int, default=-1"
    if choices["launch"] == "gpu-list":
        found["gpus"] = 'default="0,1"'
    return found


def arguments(choices: Choices, epochs: int) -> list[str]:
    """The command line, and what it becomes."""
    asked = options(choices, epochs)
    config = choices["config"]
    adder = {"groups": "group", "subparsers": "train"}.get(config, "parser")
    found = ["def parse():", "    parser = argparse.ArgumentParser()"]
    if config == "groups":
        found += ['    group = parser.add_argument_group("training")']
    if config == "subparsers":
        found += ['    commands = parser.add_subparsers(dest="command")']
        found += ['    train = commands.add_parser("train", help="train a network")']
    found += [f'    {adder}.add_argument("--{name}", {rest})' for name, rest in asked.items()]
    if config == "yaml":
        found += ['    parser.add_argument("--config", default="config.yaml")']
    parsed = "parser.parse_args()"
    result = {
        "dataclass": f"Config(**vars({parsed}))",
        "namespace": f"SimpleNamespace(**vars({parsed}))",
        "dictionary": f"vars({parsed})",
    }.get(config, parsed)
    if config == "yaml":
        found += [f"    args = {parsed}", "    with open(args.config) as f:"]
        found += [
            "        for name, value in yaml.safe_load(f).items():",
            "            setattr(args, name, value)",
        ]
        result = "args"
    found += [f"    return {result}", "", ""]
    if config == "dataclass":
        fields = [f"    {name}: {_type(rest)}" for name, rest in asked.items()]
        found = ["@dataclass", "class Config:", *fields, "", "", *found]
    return found


def _type(rest: str) -> str:
    if "store_true" in rest:
        return "bool = False"
    kind = rest.split("type=")[1].split(",")[0] if "type=" in rest else "str"
    return f"{kind} = {rest.split('default=')[1]}"


CARD = """
torch.cuda.set_device(local_rank)
$device = torch.device("cuda", local_rank)
"""
LAUNCHES = {
    "torchrun": """
dist.init_process_group("nccl")
$rank, $world_size = dist.get_rank(), dist.get_world_size()
local_rank = int(os.environ["LOCAL_RANK"])
"""
    + CARD,
    "spawn": """
os.environ["MASTER_ADDR"] = "localhost"
os.environ["MASTER_PORT"] = "29511"
dist.init_process_group("nccl", rank=rank, world_size=world_size)
torch.cuda.set_device(rank)
$rank, $world_size = rank, world_size
$device = torch.device("cuda", rank)
""",
    "environment": """
$world_size = int(os.environ.get("WORLD_SIZE", 1))
$distributed = $world_size > 1
$rank, local_rank = 0, 0
if $distributed:
    $rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl", init_method="env://", rank=$rank, world_size=$world_size)
torch.cuda.set_device(local_rank)
$device = torch.device(f"cuda:{local_rank}")
""",
    "no-ddp": """
$distributed = not $args.noddp
$rank, $world_size, local_rank = 0, 1, 0
if $distributed:
    dist.init_process_group("nccl")
    $rank, $world_size = dist.get_rank(), dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
"""
    + CARD,
    "local-rank": """
$distributed = $args.local_rank != -1
$rank, $world_size, local_rank = 0, 1, 0
if $args.local_rank == -1:
    $device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
else:
    local_rank = $args.local_rank
    torch.cuda.set_device($args.local_rank)
    $device = torch.device("cuda", $args.local_rank)
    dist.init_process_group(backend="nccl")
    $rank, $world_size = dist.get_rank(), dist.get_world_size()
""",
    "gpu-list": """
gpus = [int(gpu) for gpu in $args.gpus.split(",")]
$distributed = True
if len(gpus) == 1:
    $distributed = False
$rank, $world_size, local_rank = 0, 1, 0
if $distributed:
    dist.init_process_group("nccl", init_method="env://")
    $rank, $world_size = dist.get_rank(), dist.get_world_size()
    local_rank = $rank % torch.cuda.device_count()
"""
    + CARD,
    "card-gate": """
$distributed = torch.cuda.is_available() and int(os.environ.get("WORLD_SIZE", 1)) > 1
$rank, $world_size, local_rank = 0, 1, 0
if $distributed:
    dist.init_process_group("nccl")
    $rank, $world_size = dist.get_rank(), dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
$device = torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
""",
}


def launch(choices: Choices) -> list[str]:
    """How the original's processes find each other."""
    text = LAUNCHES.get(choices["launch"], "")
    return [line for line in lines(text) if line]


REDUCE_HELPER = """
def reduce_mean(value, n):
    value = value.clone()
    dist.all_reduce(value, op=dist.ReduceOp.SUM)
    return value / n


"""
REDUCES = {
    "none": [],
    "sum": [
        "shared = torch.tensor([total], device=$device)",
        "dist.all_reduce(shared, op=dist.ReduceOp.SUM)",
        "shown = shared.item() / $world_size",
    ],
    "average": [
        "shared = torch.tensor(total, device=$device)",
        "dist.all_reduce(shared, op=dist.ReduceOp.AVG)",
        "shown = shared.item()",
    ],
    "helper": ["shown = reduce_mean(torch.tensor(total).to($device), $world_size).item()"],
    "gathered": [
        "shared = torch.tensor([total], device=$device)",
        "every = [torch.zeros_like(shared) for _ in range($world_size)]",
        "dist.all_gather(every, shared)",
        "shown = torch.cat(every).mean().item()",
    ],
}


def reduced(choices: Choices) -> list[str]:
    """What the training loss of all ranks is, as `shown`."""
    made = REDUCES[choices["reduce"]]
    if made and choices.sometimes:
        return ["shown = total", "if $distributed:", *(f"    {line}" for line in made)]
    return made


def spawned(worker: str) -> list[str]:
    """The end of a file whose processes torch spawns."""
    return lines(f"""

if __name__ == "__main__":
    args = parse()
    world_size = torch.cuda.device_count()
    mp.spawn({worker}, args=(world_size, args), nprocs=world_size)
""")


DEVICES = {
    "available": ['$device = torch.device("cuda" if torch.cuda.is_available() else "cpu")'],
    "cpu": ['$device = torch.device("cpu")'],
    "option": ['$device = torch.device(f"cuda:{$args.gpu}" if torch.cuda.is_available() else "cpu")'],
    "text": ["$device = torch.device($args.device)"],
    "visible": [
        'os.environ["CUDA_VISIBLE_DEVICES"] = str($args.gpu)',
        '$device = "cuda" if torch.cuda.is_available() else "cpu"',
    ],
    "method": ["torch.cuda.set_device($args.gpu)", '$device = torch.device("cuda")'],
}


def device(choices: Choices) -> list[str]:
    """Where a process computes, unless its launch says so."""
    return [] if choices.distributed else DEVICES[choices["device"]]


def seed(choices: Choices) -> list[str]:
    """What is seeded."""
    return {"none": [], "all-alike": ["torch.manual_seed(0)"], "function": ["set_seed(1)"]}[choices["seed"]]


FOLDERS = {
    "none": [],
    "made": ['$folder = "runs"', "os.makedirs($folder, exist_ok=True)"],
    "free-number": [
        "number = 0",
        'while os.path.exists(f"run{number}"):',
        "    number += 1",
        '$folder = f"run{number}"',
        "os.makedirs($folder)",
    ],
    "listed-number": [
        '$folder = os.path.join("runs", f"exp{len(glob.glob(\'runs/exp*\')) + 1}")',
        "os.makedirs($folder, exist_ok=True)",
    ],
}


def folder(choices: Choices) -> list[str]:
    """The folder of a run. In a distributed original, one process makes one of a fixed name."""
    if choices.distributed:
        made = FOLDERS["made"] if choices["folder"] != "none" else []
        return [made[0], "if $rank == 0:", f"    {made[1]}"] if made else []
    return FOLDERS[choices["folder"]]


def model(choices: Choices) -> list[str]:
    """The networks, where they are, and what is around them."""
    made = ["$model = Net().to($device)"]
    if choices["model"] == "frozen-part":
        made += ["for p in $model.backbone.parameters():", "    p.requires_grad = False"]
    if choices["model"] == "teacher":
        made += ["$teacher = Teacher().to($device)", "$teacher.requires_grad_(False)"]
    if choices["model"] == "average":
        made += ["$average = copy.deepcopy($model)", "$average.requires_grad_(False)"]
    if choices["launch"] == "data-parallel":
        made += ["$model = nn.DataParallel($model)"]
    elif choices.sometimes:
        made += ["if $distributed:", "    $model = DDP($model, device_ids=[local_rank])"]
    elif choices.distributed:
        made += ["$model = DDP($model, device_ids=[$device.index])"]
    return made


def inner(choices: Choices, model_name: str = "$model") -> str:
    """The model without its wrapper, as an expression."""
    if choices.sometimes:
        return f"({model_name}.module if $distributed else {model_name})"
    return f"{model_name}.module" if choices.wrapped else model_name


def optimizer(choices: Choices) -> list[str]:
    """The optimizer and its schedule."""
    parameters = "$model.parameters()"
    if choices["optimizer"] == "groups":
        bare = inner(choices)
        backbone = f'{{"params": {bare}.backbone.parameters()}}'
        parameters = f'[{backbone}, {{"params": {bare}.head.parameters(), "lr": 0.02}}]'
    elif choices["optimizer"] == "filtered" or choices["model"] == "frozen-part":
        parameters = "filter(lambda p: p.requires_grad, $model.parameters())"
    name = "Adam" if choices["optimizer"] == "adam" else "SGD"
    made = [f"$optimizer = torch.optim.{name}({parameters}, lr=$args.lr)"]
    if choices["precision"] == "scaler":
        made += ['$scaler = torch.amp.GradScaler("cuda")']
    if choices["precision"] == "cuda-scaler":
        made += ["$scaler = torch.cuda.amp.GradScaler()"]
    if choices["schedule"] == "step":
        made += ["$scheduler = torch.optim.lr_scheduler.StepLR($optimizer, step_size=2, gamma=0.5)"]
    if choices["schedule"] == "plateau":
        made += ["$scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau($optimizer, patience=0)"]
    return made


def where(choices: Choices, name: str) -> str:
    """The path of a file of the run, as an expression."""
    return f'os.path.join($folder, "{name}")' if choices["folder"] != "none" else f'"{name}"'


def resume(choices: Choices) -> list[str]:
    """Where the training begins."""
    if choices["resume"] == "none":
        return ["$begin = 0"]
    path = "$args.resume" if choices["resume"] == "option" else where(choices, "last.pt")
    target = "$model" if choices["saved"] != "inner" else inner(choices)
    state = f'torch.load({path}, map_location="cpu")'
    made = ["$begin = 0", f"if os.path.exists({path}):", f"    state = {state}"]
    if choices["saved"] == "dictionary":
        made += ['    $begin = state["epoch"] + 1', '    $optimizer.load_state_dict(state["optimizer"])']
        return [*made, f'    {target}.load_state_dict(state["model"])']
    return [*made, f"    {target}.load_state_dict(state)"]


def inference(choices: Choices) -> list[str]:
    """A script that uses what the training shares, in one process."""
    return lines("""
def main():
    torch.manual_seed(3)
    x = torch.randn(6, 4)
    loader = [(x, x.sum(1, keepdim=True))]
    print("loss", validate(Net(), loader, torch.device("cpu")))


if __name__ == "__main__":
    main()
""")
