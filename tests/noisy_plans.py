"""Recovery as a matrix, and many drawings of a plan's noise at once: for statistical tests of whole plans."""

from __future__ import annotations

import numpy as np

import oracle
from cuboid.measurement import LAW_OF, Measurements
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
