"""Python's own modules: https://docs.python.org/3/library/."""

from __future__ import annotations

from hvdkit.library.effects import (
    Computes,
    Differs,
    Draws,
    Effect,
    Ends,
    Makes,
    Pure,
    Runs,
    Seeds,
    Wraps,
    Writes,
    WritesNamed,
)

# https://docs.python.org/3/library/random.html
RANDOM: dict[str, Effect] = {
    "random.seed": Seeds(("random",), name="a"),
    "random.shuffle": Draws("random", orders=True, shuffles=True),
    "random.sample": Draws("random", orders=True),
    "random.choices": Draws("random", orders=True),
    # Functions of the module that draw nothing.
    "random.getstate": Pure(),
    "random.setstate": Pure(),
}

# What each process or host has for itself: the pages of time, datetime, os, uuid, secrets and tempfile.
OWN: dict[str, Effect] = {
    # Functions of the module that do not read the clock.
    "time.sleep": Pure(),
    "time.strptime": Pure(),
    "time.mktime": Pure(),
    "datetime.datetime.now": Differs("the time"),
    "datetime.datetime.today": Differs("the time"),
    "datetime.datetime.utcnow": Differs("the time"),
    "os.getpid": Differs("the process's number"),
    "os.getppid": Differs("the process's number"),
    "threading.get_ident": Differs("the thread's number"),
    "threading.get_native_id": Differs("the thread's number"),
    "socket.gethostname": Differs("the host's name", by_host=True),
    "socket.getfqdn": Differs("the host's name", by_host=True),
    "platform.node": Differs("the host's name", by_host=True),
    "os.uname": Differs("the host's name", by_host=True),
    "uuid.getnode": Differs("the host's number", by_host=True),
    "os.urandom": Differs("random bytes"),
    # Made of a name alone.
    "uuid.uuid3": Pure(),
    "uuid.uuid5": Pure(),
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
    "logging.handlers.TimedRotatingFileHandler": Writes(0, "filename"),
    "logging.handlers.WatchedFileHandler": Writes(0, "filename"),
    "logging.basicConfig": Writes(-1, "filename"),
    "logging.config.dictConfig": WritesNamed("filename"),
    "shutil.copyfile": Writes(1, "dst"),
    "shutil.copy": Writes(1, "dst"),
    "shutil.copy2": Writes(1, "dst"),
    "shutil.copytree": Writes(1, "dst"),
    "shutil.move": Writes(1, "dst"),
    "shutil.make_archive": Writes(0, "base_name"),
    "os.open": Writes(0, "path", mode=1),
    "os.rename": Writes(1, "dst"),
    "os.replace": Writes(1, "dst"),
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
    "argparse.Namespace": Makes("namespace"),
    "types.SimpleNamespace": Makes("namespace"),
    "multiprocessing.Process": Pure(),
    "asyncio.run": Wraps(0),
    "atexit.register": Runs(),
}

CALLS: dict[str, Effect] = {**RANDOM, **OWN, **FILES, **OTHERS}

# What the functions of a module do that have no line of their own.
MODULES: dict[str, Effect] = {
    "math": Computes(),
    "operator": Computes(),
    "random": Draws("random"),
    "time": Differs("the time"),
    "uuid": Differs("a new identifier"),
    "secrets": Differs("a random number"),
}
