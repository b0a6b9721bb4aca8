"""What ranks train on, with which weights, in which order, and whether their collectives meet."""

from __future__ import annotations

import pytest
from paper import DATA, EPOCHS, TRAINING, meetings, orders, shares, steps, weights, writers

SPLIT = DATA + "{}train, held_out = random_split(data, [48, 16]{})\n"
SPLIT_ALIKE = {
    "a seed above": SPLIT.format("torch.manual_seed(3)\n", ""),
    "an option": SPLIT.format(
        "args = argparse.ArgumentParser().parse_args()\ntorch.manual_seed(args.seed)\n", ""
    ),
    "its own generator": SPLIT.format("", ", generator=torch.Generator().manual_seed(1)"),
    "a generator by its place": SPLIT.format("", ", torch.Generator().manual_seed(1)"),
    "a helper that is called": SPLIT.format("def fix(n):\n    torch.manual_seed(n)\nfix(4)\n", ""),
    "a seed that rank 0 sends": SPLIT.format(
        "torch.manual_seed(hvd.broadcast_object(random.randint(0, 9), root_rank=0))\n", ""
    ),
    "scikit-learn's state": DATA
    + "from sklearn.model_selection import train_test_split\ntrain_test_split(data, random_state=0)\n",
}
SPLIT_APART = {
    "no seed": SPLIT.format("", ""),
    "a seed below": SPLIT.format("", "") + "torch.manual_seed(3)\n",
    "a seed of another library": SPLIT.format("random.seed(3)\n", ""),
    "a helper that is not called": SPLIT.format("def fix(n):\n    torch.manual_seed(n)\n", ""),
    "the clock": SPLIT.format("now = int(time.time())\ntorch.manual_seed(now)\n", ""),
    "a drawn number": SPLIT.format("torch.manual_seed(random.randrange(100))\n", ""),
    "a drawn number of a function": SPLIT.format(
        "def pick():\n    return random.randint(1, 9)\ntorch.manual_seed(pick())\n", ""
    ),
    "the rank": SPLIT.format("torch.manual_seed(5 + rank)\n", ""),
    "rank 0 alone": SPLIT.format("if rank == 0:\n    torch.manual_seed(5)\n", ""),
    "a draw of rank 0 alone": SPLIT.format("torch.manual_seed(5)\nif rank == 0:\n    torch.randn(3)\n", ""),
    "a loop that may have no turn": SPLIT.format(
        "import sys\nif len(sys.argv) > 1:\n    torch.manual_seed(int(sys.argv[1]))\n", ""
    ),
}
BY_RANK = "order = {}\nloader = DataLoader(Subset(data, order[{}]), shuffle=True)\n"


@pytest.mark.parametrize("name", SPLIT_ALIKE)
def test_all_ranks_split_alike(name: str) -> None:
    assert shares(SPLIT_ALIKE[name]) == []


@pytest.mark.parametrize("name", SPLIT_APART)
def test_ranks_split_differently(name: str) -> None:
    assert len(shares(SPLIT_APART[name])) == 1


def test_an_order_that_is_divided() -> None:
    seeded = "torch.randperm(64, generator=torch.Generator().manual_seed({}))"
    assert shares(DATA + BY_RANK.format(seeded.format("0"), "rank::hvd.size()")) == []
    assert shares(DATA + BY_RANK.format(seeded.format("rank"), "rank::hvd.size()")) == [2]
    assert shares(DATA + BY_RANK.format("np.random.permutation(64)", "rank::hvd.size()")) == [2]
    # What each rank orders is its own share.
    own = "mine = list(range(64))[rank::hvd.size()]\nrandom.shuffle(mine)\n"
    own += "loader = DataLoader(Subset(data, mine))\n"
    assert shares(DATA + own) == []


def test_shares_that_overlap() -> None:
    assert shares(DATA + BY_RANK.format("range(64)", "rank:")) == [3]
    assert shares(DATA + BY_RANK.format("range(64)", "rank::4")) == []


TEACHER = "teacher = torch.nn.Linear(1, 1)\n"
LOSS = "loss = (model(x) - teacher(x)).sum()\nloss.backward()\n"


def test_a_frozen_random_network() -> None:
    assert weights(DATA + TEACHER + TRAINING + LOSS) == [2]
    assert weights(DATA + "torch.manual_seed(0)\n" + TEACHER + TRAINING + LOSS) == []
    sent = "hvd.broadcast_parameters(teacher.state_dict(), root_rank=0)\n"
    assert weights(DATA + TEACHER + sent + TRAINING + LOSS) == []
    assert weights(DATA + TEACHER + TRAINING + "(model(x) - 1).sum().backward()\n") == []


def test_a_part_of_a_class_that_no_broadcast_reaches() -> None:
    text = (
        DATA + TRAINING + "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    )
    text += "        self.layers = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())\nnet = Net()\n"
    assert weights(text + "net(x).sum().backward()\n") == [10]
    assert weights(text + "hvd.broadcast_parameters(net.state_dict(), 0)\nnet(x).sum().backward()\n") == []


def test_weights_that_are_written_below_the_broadcast() -> None:
    early = "model = torch.nn.Linear(1, 1)\nkept = copy.deepcopy(model.state_dict())\n"
    below = early + "hvd.broadcast_parameters(model.state_dict(), 0)\nmodel(x).sum().backward()\n"
    assert weights(below + "model.load_state_dict(kept)\n") == [5]
    assert weights(below + "model.load_state_dict(torch.load('a.pt'))\n") == []
    late = below + "other = torch.nn.Linear(1, 1)\nfor p, q in zip(model.parameters(), other.parameters()):\n"
    assert weights(late + "    p.data.copy_(q.data)\n") == [7]
    assert weights(below + "torch.nn.init.xavier_uniform_(model.weight)\n") == [5]


def test_the_order_of_each_epoch() -> None:
    assert orders(DATA + TRAINING + EPOCHS) == []
    once = EPOCHS.replace("    sampler.set_epoch(epoch)\n", "")
    assert orders(DATA + TRAINING + "sampler.set_epoch(0)\n" + once) == [7]
    assert orders(DATA + TRAINING + EPOCHS.replace("range(5)", "range(2)")) == []
    counted = (
        once.replace("for epoch", "turn = 0\nfor epoch") + "    turn += 1\n    sampler.set_epoch(turn)\n"
    )
    assert orders(DATA + TRAINING + "sampler.set_epoch(0)\n" + counted) == []


def test_passes_within_an_epoch() -> None:
    text = (
        DATA + TRAINING + "for epoch in range(9):\n    sampler.set_epoch(epoch)\n    batches = iter(loader)\n"
    )
    text += "    for step in range(9):\n        try:\n            x, = next(batches)\n"
    text += "        except StopIteration:\n            {}batches = iter(loader)\n"
    text += "            x, = next(batches)\n"
    text += "        model(x).sum().backward()\n"
    assert orders(text.format("")) == [8]
    assert orders(text.format("sampler.set_epoch(epoch * 9 + step); ")) == []


MET = {
    "all": "hvd.barrier()\n",
    "all, on two ways": "if rank == 0:\n    hvd.broadcast_object(1)\nelse:\n    hvd.broadcast_object(None)\n",
    "by an option": "if argparse.ArgumentParser().parse_args().wait:\n    hvd.barrier()\n",
    "a loop that all leave alike": DATA
    + TRAINING
    + EPOCHS
    + "    if hvd.allreduce(loss) < 1:\n        break\n",
    "rank 0 decides": DATA
    + TRAINING
    + EPOCHS
    + "    if hvd.broadcast_object(loss.item() < 1, root_rank=0):\n        break\n",
}
UNMET = {
    "one rank": "if rank == 0:\n    hvd.barrier()\n",
    "one rank of each host": "if hvd.local_rank() == 0:\n    hvd.allreduce(x)\n",
    "after a return": "def end():\n    if rank:\n        return\n    hvd.barrier()\nend()\n",
    "by each rank's clock": "if time.time() > 9:\n    hvd.barrier()\n",
    "a loop that ranks leave by their own losses": DATA
    + TRAINING
    + EPOCHS
    + "    if loss.item() < 1:\n        break\n",
}


@pytest.mark.parametrize("name", MET)
def test_collectives_meet(name: str) -> None:
    assert meetings(MET[name]) == []


@pytest.mark.parametrize("name", UNMET)
def test_collectives_do_not_meet(name: str) -> None:
    assert meetings(UNMET[name])


def test_an_optimizer_beside_the_wrapped_one() -> None:
    above = DATA + TRAINING
    again = above + "optimizer = torch.optim.Adam(model.parameters())\n"
    assert steps(above + EPOCHS) == []
    assert steps(again + EPOCHS) == [again.count("\n") + EPOCHS.count("\n")]


def test_a_method_of_what_is_not_followed() -> None:
    text = """
        import unknown

        class Base:
            def end(self):
                pass

        class Model(Base):
            def end(self):
                super().end()

        Model.end(unknown.model)
        """
    assert writers(text) == []
