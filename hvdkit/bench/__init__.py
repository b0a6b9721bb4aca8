"""How fast a job is on the hosts at hand, what its steps are made of, and what more ranks would bring."""
