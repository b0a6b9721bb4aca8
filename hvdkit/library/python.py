"""Python's own modules: https://docs.python.org/3/library/."""

from __future__ import annotations

from hvdkit.library.effects import Differs, Draws, Effect, Ends, Pure, Runs, Seeds, Wraps, Writes

# https://docs.python.org/3/library/random.html
RANDOM: dict[str, Effect] = {
    "random.seed": Seeds(("random",), name="a"),
    "random.shuffle": Draws("random", orders=True, shuffles=True),
    "random.sample": Draws("random", orders=True),
    "random.choices": Draws("random", orders=True),
    "random.choice": Draws("random"),
    "random.random": Draws("random"),
    "random.randint": Draws("random"),
    "random.randrange": Draws("random"),
    "random.uniform": Draws("random"),
    "random.getrandbits": Draws("random"),
    "random.gauss": Draws("random"),
}

# What each process has for itself: the pages of time, datetime, os, uuid, secrets and tempfile.
OWN: dict[str, Effect] = {
    "time.time": Differs("the time"),
    "time.time_ns": Differs("the time"),
    "time.perf_counter": Differs("the time"),
    "time.monotonic": Differs("the time"),
    "time.strftime": Differs("the time"),
    "datetime.datetime.now": Differs("the time"),
    "datetime.datetime.today": Differs("the time"),
    "datetime.datetime.utcnow": Differs("the time"),
    "os.getpid": Differs("the process's number"),
    "os.urandom": Differs("random bytes"),
    "uuid.uuid1": Differs("a new identifier"),
    "uuid.uuid4": Differs("a new identifier"),
    "secrets.randbits": Differs("random bits"),
    "secrets.token_hex": Differs("random bytes"),
    "secrets.randbelow": Differs("a random number"),
    "random.SystemRandom": Differs("the system's random numbers"),
    "tempfile.mkdtemp": Differs("a new folder"),
    "tempfile.mkstemp": Differs("a new file"),
    "tempfile.TemporaryDirectory": Differs("a new folder"),
    "tempfile.NamedTemporaryFile": Differs("a new file"),
    "tempfile.TemporaryFile": Differs("a new file"),
}

# https://docs.python.org/3/library/functions.html#open, logging.handlers.html and shutil.html
FILES: dict[str, Effect] = {
    "open": Writes(0, "file", mode=1),
    "io.open": Writes(0, "file", mode=1),
    "codecs.open": Writes(0, "filename", mode=1),
    "gzip.open": Writes(0, "filename", mode=1),
    "logging.FileHandler": Writes(0, "filename"),
    "logging.handlers.RotatingFileHandler": Writes(0, "filename"),
    "logging.basicConfig": Writes(-1, "filename"),
    "shutil.copyfile": Writes(1, "dst"),
    "shutil.copy": Writes(1, "dst"),
    "shutil.copy2": Writes(1, "dst"),
}

OTHERS: dict[str, Effect] = {
    "sys.exit": Ends(),
    "exit": Ends(),
    "quit": Ends(),
    "os._exit": Ends(),
    "functools.wraps": Pure(),
    "os.path.join": Pure(),
    "os.path.exists": Pure(),
    "os.path.isfile": Pure(),
    "os.makedirs": Pure(),
    "pathlib.Path": Pure(),
    "argparse.ArgumentParser": Pure(),
    "multiprocessing.Process": Pure(),
    "asyncio.run": Wraps(0),
    "atexit.register": Runs(),
}

CALLS: dict[str, Effect] = {**RANDOM, **OWN, **FILES, **OTHERS}
