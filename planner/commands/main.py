"""Parses the command line and runs one subcommand. Exit status: 0 fits (or done), 1 does not fit, 2 bad input."""

import argparse
import os
import sys
from collections.abc import Sequence

from planner.commands import (
    benchmark,
    calibrate,
    capacity,
    check_code,
    environment,
    estimate,
    launch,
    listing,
    model,
    monitor,
    recommend,
    search,
    store,
    validate,
)
from planner.commands.words import problem_line
from planner.result import InputError

BAD_INPUT = 2


def main(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m planner",
        description="Plans GPU work: will it fit, how fast will it run, what will it cost.",
        epilog="Memory is in GiB (2^30 bytes) in tables and in bytes in JSON; times are seconds; prices US dollars.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (
        estimate,
        search,
        launch,
        recommend,
        capacity,
        model,
        listing,
        validate,
        benchmark,
        calibrate,
        monitor,
        environment,
        check_code,
        store,
    ):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except InputError as error:
        for problem in error.problems:
            print(problem_line(problem), file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # `... | head`: the reader has gone, which is no error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
