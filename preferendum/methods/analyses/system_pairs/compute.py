"""How many pairs of systems people and metrics tell apart, for a study's page: a scorer at a time, none twice."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from preferendum.methods.analyses.system_pairs.report import draws_for, system_pairs
from preferendum.methods.meta.peers import judged_among
from preferendum.methods.meta.resampling import Matrix
from preferendum.metrics.names import PREFERENCES
from preferendum.results import PairCounts
from preferendum.results.metrics import Peers
from preferendum.results.scores import is_tested
from preferendum.work import AtWork, Keys
from preferendum.work.scores import Scores

#: More systems are left to the command line.
MOST_SYSTEMS = 200
#: Fewer draws would say too little: what cannot have so many is left to the command line, too.
FEWEST_DRAWS, USUAL_DRAWS = 500, 1000
#: What one scorer may take: draws x pairs x (topics squared + `_PAIR`), where W is topics squared of additions, and the
#: rest of a draw as long as so many.
_COST, _PAIR = 3e10, 1000

#: Among whose summaries; whether people are the scorer, in a dimension, or else a metric; its name.
Key = tuple[Peers, bool, str]


def compute(study: AtWork) -> Iterator[None]:
    """Keep the counts of each scorer."""
    scores = study.scores.unmixed()
    digests = {keys: record["digest"] for keys, record in study.kept(dict).items()}
    for scorer, counts in counted(scores, digests):
        study.keep(scorer.keys, {"digest": scorer.digest, "counts": counts})
        yield
    study.finish([scorer.keys for scorer in scorers(scores)])


@dataclass(frozen=True, slots=True)
class Scorer:
    """One that scores systems; `digest` is that of all that its counts rest on."""

    key: Key
    scores: Scores
    matrix: Matrix

    @property
    def keys(self) -> Keys:
        peers, by_human, by = self.key
        return peers, "people" if by_human else "metric", by

    @property
    def digest(self) -> str:
        names = repr((self.scores.systems, self.scores.machines, self.matrix.shape)).encode()
        return hashlib.sha256(names + self.matrix.tobytes()).hexdigest()


def scorers(scores: Scores) -> Iterator[Scorer]:
    """People in every dimension, then every metric that can be tested, among machines and among all; none where there
    are too many pairs.

    Two systems are the fewest; `affordable_draws` says what too many are.
    """
    for peers, own in judged_among(scores):
        if len(own.systems) > 1 and affordable_draws(len(own.systems), len(own.topics)):
            for by_human, matrices in ((True, own.human), (False, own.metrics)):
                for name, matrix in matrices.items():
                    if by_human or (_is_tested(name) and own.can_test(name)):
                        yield Scorer((peers, by_human, name), own, matrix)


def _is_tested(metric: str) -> bool:
    """All are, except those of the study's own scores that are never tested."""
    score = metric.removeprefix(PREFERENCES)
    return score == metric or is_tested(score)


def counted(scores: Scores, digests: Mapping[Keys, str], seed: int = 0) -> Iterator[tuple[Scorer, PairCounts]]:
    """The counts of every scorer that has not these scores by the `digests` of those counted before."""
    for scorer in scorers(scores):
        if digests.get(scorer.keys) != scorer.digest:
            own = scorer.scores
            draws = affordable_draws(len(own.systems), len(own.topics))
            tested = system_pairs(scorer.key[2], scorer.matrix, own.systems, own.machines, draws, seed)
            yield scorer, PairCounts(tested.by, tested.level, tested.draws, tested.counts)


def affordable_draws(systems: int, topics: int) -> int:
    """The number of draws: as many as the command line makes, or as there is time for; 0 where that is too few, or the
    systems too many.
    """
    most = int(_COST / (max(math.comb(systems, 2), 1) * (topics**2 + _PAIR)))
    return min(draws_for(systems, USUAL_DRAWS), most) if systems <= MOST_SYSTEMS and most >= FEWEST_DRAWS else 0
