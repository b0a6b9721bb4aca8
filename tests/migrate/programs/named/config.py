"""Settings with attributes, and objects that are made by the name of their class."""

import importlib


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value


def construct(*args, class_name, **kwargs):
    module, _, name = class_name.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args, **kwargs)
