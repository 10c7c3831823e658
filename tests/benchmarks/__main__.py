"""`python -m tests.benchmarks`: every figure that the documentation states, measured here and now."""

from tests.benchmarks import capacity, memory_accuracy, page_speed, planner_speed, search, speed_accuracy

for module in (planner_speed, search, capacity, page_speed, memory_accuracy, speed_accuracy):
    print(f"\n== {module.__name__.rpartition('.')[2]} ==")
    module.main()
