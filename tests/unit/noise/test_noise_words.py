"""Words are fresh in every process, unless a seed says otherwise (T21)."""

from __future__ import annotations

import multiprocessing
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cuboid.noise import InsecureWords, Law, SystemWords, Words, draw

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

WORKERS, EACH = 16, 2000


def send(words: Words, out: Connection) -> None:
    out.send(words.take(EACH))
    out.close()


def words_of_forked_workers(words: Words) -> np.ndarray:
    """Return what sixteen workers, forked after the source was made and used, take from it."""
    words.take(10)
    fork = multiprocessing.get_context("fork")
    taken = []
    for _ in range(WORKERS):
        there, here = fork.Pipe(duplex=False)
        worker = fork.Process(target=send, args=(words, here))
        worker.start()
        here.close()
        taken.append(there.recv())
        worker.join()
        there.close()
    return np.concatenate(taken)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_share_no_words() -> None:
    """Sixteen forks of one source give different words; a seeded source, the control, repeats them."""
    assert np.unique(words_of_forked_workers(SystemWords())).size == WORKERS * EACH
    assert np.unique(words_of_forked_workers(InsecureWords(1))).size == EACH


def test_words_are_64_bits_and_as_many_as_asked() -> None:
    """Both sources give unsigned words, every bit of them in use."""
    for words in (SystemWords(), InsecureWords(0)):
        taken = words.take(1000)
        assert taken.dtype == np.uint64
        assert taken.shape == (1000,)
        assert np.bitwise_or.reduce(taken) == np.uint64(2**64 - 1)
        assert np.bitwise_and.reduce(taken) == np.uint64(0)
        assert words.take(0).shape == (0,)


def test_a_seed_repeats_and_so_betrays_the_difference_of_neighbours() -> None:
    """Subtracting two releases made with one seed gives the secret's difference: why seeds are for tests."""
    which = np.zeros(5, dtype=np.int64)
    releases = [
        np.array(table) + draw(Law.LAPLACE, [Fraction(1, 10)], which, InsecureWords(7))
        for table in ([3, 1, 4, 1, 5], [3, 1, 5, 1, 5])
    ]
    assert (releases[1] - releases[0]).tolist() == [0, 0, 1, 0, 0]
