"""The command line: `python -m planner`. The same planner as the pages, as text or JSON."""

import sys

from planner.commands.main import main

sys.exit(main(sys.argv[1:]))
