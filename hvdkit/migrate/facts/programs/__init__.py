"""The programs of a project: their files, their kind, and what each of them comes to."""
