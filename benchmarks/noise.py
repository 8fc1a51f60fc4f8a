"""Draws of noise a second, ours beside the opendp package's, in one run: `python benchmarks/noise.py`."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import opendp.prelude as dp

from cuboid.noise import Law, SystemWords, draw

if TYPE_CHECKING:
    from collections.abc import Callable

SCALE = 20
GOAL = "10 million draws a second for either law on one core, system entropy included"
OURS, THEIRS = 4_000_000, 100_000  # draws in one repetition: about a fifth of a second and about one second


def rate(run: Callable[[], object], draws: int, *, repeat: int = 3) -> dict[str, float]:
    """Return millions of draws a second by the wall clock and by the processor's, the best of some repetitions."""
    run()
    wall, cpu = [], []
    for _ in range(repeat):
        started = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - started[0])
        cpu.append(time.process_time() - started[1])
    return {"million_per_s": draws / min(wall) / 1e6, "million_per_cpu_s": draws / min(cpu) / 1e6}


def ours(law: Law) -> dict[str, float]:
    """Return the rate of `draw` at one scale."""
    parameter = Fraction(1, SCALE) if law is Law.LAPLACE else Fraction(SCALE**2)
    which = np.zeros(OURS, dtype=np.int64)
    return rate(lambda: draw(law, [parameter], which, SystemWords()), OURS)


def theirs(law: Law) -> dict[str, float]:
    """Return the rate of opendp's mechanism on a vector of integers, at the same scale."""
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if law is Law.LAPLACE:
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(SCALE))
    else:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(SCALE))
    zeros = [0] * THEIRS
    return rate(lambda: mechanism(zeros), THEIRS)


def main() -> dict[str, Any]:
    """Return the rates of both laws by both libraries, and the ratio."""
    results = []
    for law in Law:
        mine, other = ours(law), theirs(law)
        times = mine["million_per_cpu_s"] / other["million_per_cpu_s"]
        results.append({"law": law.value, "scale": SCALE, "cuboid": mine, "opendp": other, "times_faster": times})
    return {"name": "noise", "results": results, "goal": GOAL}


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
