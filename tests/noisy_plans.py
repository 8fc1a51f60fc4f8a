"""Recovery as a matrix, and many drawings of a plan's noise at once: for statistical tests of whole plans."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import oracle
from cuboid.measurement import LAW_OF, Measurements, Query
from cuboid.noise import draw
from cuboid.privacy import Mechanism
from cuboid.recovery import recover


def parameters_of(plan):
    """The parameter that the noise of each integer answer must have, straight from the plan's weights."""
    found = []
    for query in plan.queries:
        lengths = oracle.answer_lengths(plan.sizes, query.form.value, query.cuboid)
        if plan.mechanism is Mechanism.PURE:
            found += [query.weight for _ in lengths]
        else:
            found += [4**plan.exponent * length / query.weight for length in lengths]
    return found


def noise_of_answers(plan, drawings, words):
    """Noise of all integer answers, one column a drawing, in grid steps; and the parameters of the rows."""
    parameters = parameters_of(plan)
    which = np.repeat(np.arange(len(parameters)), drawings)
    return draw(LAW_OF[plan.mechanism], parameters, which, words).reshape(len(parameters), drawings), parameters


def linear_recovery(plan, cuboid):
    """The matrix that takes the noise of all integer answers, in grid steps, to the errors of a table's cells."""
    sizes = [query.answers(plan.sizes) for query in plan.queries]
    columns = []
    for place, size in enumerate(sizes):
        for answer in range(size):
            answers = [np.zeros(n, dtype=np.int64) for n in sizes]
            answers[place][answer] = 1
            measurements = Measurements(
                mechanism=plan.mechanism,
                exponent=plan.exponent,
                queries=plan.queries,
                answers=tuple(a.reshape(q.shape(plan.sizes)) for a, q in zip(answers, plan.queries, strict=True)),
                total=0 if plan.unit.total_is_public else None,
                nonce="none",
            )
            columns.append(recover(measurements, plan.needed, plan.sizes).table(cuboid).reshape(-1))
    return np.stack(columns, axis=1)


def random_measurements(sizes, asked, mechanism, *, total, seed, exponent=4):
    """Arbitrary answers to (form, cuboid) queries of unequal, random precision."""
    random = np.random.default_rng(seed)
    exponent = 0 if mechanism is Mechanism.PURE else exponent
    queries = tuple(
        Query(cuboid=cuboid, form=form, weight=Fraction(int(random.integers(1, 50)), int(random.integers(1, 50))))
        for form, cuboid in asked
    )
    return Measurements(
        mechanism=mechanism,
        exponent=exponent,
        queries=queries,
        answers=tuple(random.integers(-500, 5000, query.shape(sizes)) for query in queries),
        total=total,
        nonce="random",
    )


def variances_of(measurements):
    """Noise variances of a cell or an orthonormal contrast of each query: written out from the two laws."""
    found = []
    for query in measurements.queries:
        if measurements.mechanism is Mechanism.PURE:
            q = np.exp(-float(query.weight))
            found.append(2 * q / (1 - q) ** 2)
        else:
            shortest = 2 ** len(query.cuboid) if query.form == "contrast" else 1
            found.append(float(1 / query.weight) + 4.0**-measurements.exponent / 12 / shortest)
    return found


def dense_estimate(measurements, sizes, cuboid):
    """The dense estimate of a table and its covariance; None where the measurements do not determine it."""
    asked = [(q.form.value, q.cuboid, v) for q, v in zip(measurements.queries, variances_of(measurements), strict=True)]
    solved = oracle.least_squares(sizes, asked, cuboid, total=measurements.total)
    if solved is None:
        return None
    answers = np.concatenate([measurements.values(k).reshape(-1) for k in range(len(asked))])
    return solved[0] @ np.append(answers, measurements.total or 0), solved[1]
