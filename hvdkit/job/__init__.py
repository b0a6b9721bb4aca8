"""The paper job: one abstract run of a program in five processes at once, which nothing of it leaves."""
