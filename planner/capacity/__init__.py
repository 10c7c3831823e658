"""A team's GPUs against its workloads: who runs where and when, what is missing, what uncertain demand does."""
