"""Conditions of a job: functions of the record of its run, each in a file, that name what does not hold."""
