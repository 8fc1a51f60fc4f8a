"""Does the ledger hold when many ask at once, and when some are killed?"""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import cuboid
from cuboid.privacy import Unit, loss
from cuboid.privacy.ledger import Ledger

SOURCE = Path(cuboid.__file__).parents[1]
TESTS = Path(__file__).parents[1]
PROCESSES, THREADS = 8, 64

RACER = """
import sys, threading
from cuboid.errors import BudgetExceededError
from cuboid.privacy.ledger import Ledger
from ledger_requests import request
ledger, outcomes = Ledger.at(sys.argv[1]), []
print("ready", flush=True)
sys.stdin.readline()
def race():
    try:
        while True:
            ledger.spend(request("1/50"))
            outcomes.append("granted")
    except BudgetExceededError:
        outcomes.append("refused")
threads = [threading.Thread(target=race) for _ in range(int(sys.argv[2]))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(outcomes.count("granted"), outcomes.count("refused"), flush=True)
"""

# Forks spenders and kills each with SIGKILL at a random moment; what a spender was granted it says on a pipe.
NURSERY = """
import os, random, signal, sys, time
from cuboid.privacy.ledger import Ledger
from ledger_requests import request
ledger = Ledger.at(sys.argv[1])
for life in range(int(sys.argv[2])):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            receipt = ledger.spend(request("1/1000"))
            os.write(writer, f"{receipt.sequence}\\n".encode())
    os.close(writer)
    first = os.read(reader, 64) if life % 2 else b""    # every other one lives to be granted something
    time.sleep(random.uniform(0.001, 0.04))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reader) as told:
        heard = (first.decode() + told.read()).split()
    account = ledger.account("survey")
    ledger.verify()
    print(heard[-1] if heard else 0, len(account.entries), account.spent, flush=True)
"""


def started(script, *arguments):
    """A fresh interpreter that runs the script."""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def test_a_race_for_the_last_two_percent_grants_exactly_what_is_there(tmp_path):
    """Eight processes of many threads each take 2 % again and again: fifty spends in all succeed, none twice."""
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    ledger.open_account("survey", loss=loss(epsilon=1), unit=Unit())
    racers = [started(RACER, ledger.path, THREADS) for _ in range(PROCESSES)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    told = [racer.communicate(timeout=60)[0].split() for racer in _let_go(racers)]
    assert sum(int(granted) for granted, _ in told) == 50
    assert sum(int(refused) for _, refused in told) == PROCESSES * THREADS
    account = ledger.account("survey")
    assert (account.left, len(account.entries)) == (0, 51)
    assert ledger.verify("survey")[0].sequence == 51


def _let_go(racers):
    """The racers, all told to start before the first is waited for."""
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    return racers


def test_a_killed_spender_never_takes_back_what_it_spent(tmp_path):
    """Killed at random moments, what was granted stays recorded, the total never falls, and the chain holds."""
    path = tmp_path / "ledger.sqlite"
    Ledger.at(path).open_account("survey", loss=loss(epsilon=1000), unit=Unit())
    nursery = started(NURSERY, path, 60)
    output, _ = nursery.communicate(timeout=60)
    assert nursery.returncode == 0
    lives = [line.split() for line in output.splitlines()]
    assert len(lives) == 60
    before, heard_of = Fraction(0), 0
    for heard, entries, spent in lives:
        assert int(heard) <= int(entries)
        assert Fraction(spent) == Fraction(int(entries) - 1, 1000)
        assert Fraction(spent) >= before
        before, heard_of = Fraction(spent), heard_of + (int(heard) > 0)
    assert heard_of >= 30
