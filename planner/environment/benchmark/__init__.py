"""How fast this machine's GPUs and processor really are, beside what the catalogue says that they reach.

run = start()                 # in a process of its own, with a time limit
while not run.finished: ...   # run.progress, run.results; run.cancel() ends it
rows = compare(run.results)
"""
