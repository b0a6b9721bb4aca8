"""How a program is started, what its ranks are, and which processes run which code."""
