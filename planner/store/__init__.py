"""What people keep: plans, comparisons, capacity scenarios, inventories, own GPUs and prices, measurements, recordings.

    store = open_store()                      # SQLite in the user's data folder, or DATABASE_URL
    desk = store.local_desk()                 # one user, all rights; with sign-in: store.desk(identity, team)
    item = desk.create(Kind.PLAN, "My plan", {"model": "Qwen/Qwen3-8B"}, tags=("demo",))
    item = desk.save(item.id, item.version, name="A better name")      # Conflict when someone else saved meanwhile
    desk.items(Kind.PLAN, search="qwen")

Everything that is read or written goes through a `Desk`, which belongs to one team and knows the role of its user: it
is the only place where rows are selected, so no caller can reach another team's. An item's id is its short link.
"""
