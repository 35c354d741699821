import itertools
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.errors import InputError
from tests.reference.cbfs import cbfs as cbfs_oracle
from tests.reference.mdav import mdav as mdav_oracle

ORACLES = {"mdav": mdav_oracle, "cbfs": cbfs_oracle}


def loss_on_all(X, labels):
    groups = {label: [x for x, own in zip(X, labels, strict=True) if own == label] for label in set(labels)}
    error = sum(((np.array(group) - np.mean(group, axis=0)) ** 2).sum() for group in groups.values())
    return 100 * error / ((X - X.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("method", ORACLES)
def test_every_subset_has_the_loss_of_the_oracle(method):
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = ma.best_subset(X, 3, 3, method)
    assert list(found.losses) == list(itertools.combinations(range(5), 3))
    for subset, loss in found.losses.items():
        labels = ORACLES[method](Z[:, subset].tolist(), 3)
        assert loss == pytest.approx(loss_on_all(Z, labels), rel=1e-9)
    assert found.losses[found.best] == min(found.losses.values())
    assert found.losses[found.worst] == max(found.losses.values())
    assert found.mean == pytest.approx(np.mean(list(found.losses.values())))


def test_threads_change_nothing_and_progress_is_told():
    table = ma.datasets.survey(300, seed=0).select(["age", "hours", "wage", "income", "tax"])
    told = []
    one = ma.best_subset(table, 2, 4, "iamat", n_jobs=1, progress=lambda done, total: told.append((done, total)))
    two = ma.best_subset(table, 2, 4, "iamat", n_jobs=2)
    assert dict(one.losses) == dict(two.losses)
    assert told == [(i, 10) for i in range(1, 11)]
    assert repr(pickle.loads(pickle.dumps(one))) == repr(one)


def test_an_error_in_the_callback_stops_all_threads():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ma.best_subset(ma.datasets.uniform(300, 12), 4, 3, n_jobs=2, progress=stop)


@pytest.mark.casc
@pytest.mark.parametrize(
    ("file", "best", "worst", "lowest", "mean"),
    [("tarragona", (2, 3, 10), (5, 6, 11), 20.67, 25.17), ("census", (7, 8, 10), (1, 8, 9), 15.67, 21.21)],
)
def test_all_triples_of_the_casc_files(file, best, worst, lowest, mean):
    table = ma.datasets.load(file)
    found = ma.best_subset(table, 3, 3, "cbfs")
    assert len(found.losses) == 286
    assert found.best == tuple(table.column_names[j - 1] for j in best)
    assert found.worst == tuple(table.column_names[j - 1] for j in worst)
    assert found.losses[found.best] == pytest.approx(lowest, abs=0.005)
    assert found.mean == pytest.approx(mean, abs=0.005)


def test_the_lowest_loss_among_tied_choices():
    table = ma.datasets.survey(400, seed=1).select(["age", "hours", "wage", "income", "tax", "capital"])
    tree = ma.DependenceTree().fit(table)
    first = ma.select_variables(tree, 2)
    tried = ma.select_variables(tree, 2, choose="lowest-loss", X=table, k=3, method="cbfs")
    assert tried.alternatives == first.alternatives
    assert list(tried.losses) == list(tried.alternatives)
    every = ma.best_subset(table, 2, 3, "cbfs")
    for alternative, loss in tried.losses.items():
        in_file_order = tuple(name for name in table.column_names if name in alternative)
        assert loss == every.losses[in_file_order]
    assert tried.losses[tried.columns] == min(tried.losses.values())
    assert first.losses == {}


TABLE = ma.datasets.survey(100, seed=0).select(["age", "hours", "wage", "income"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ma.best_subset(TABLE, 5, 3), "size=5 must be a whole number, from 1 to 4"),
        (lambda: ma.best_subset(TABLE, 2.0, 3), "size=2.0"),
        (lambda: ma.best_subset(TABLE, 2, 1), "k=1 protects nobody"),
        (lambda: ma.best_subset(TABLE, 2, 300), "cannot fill a group"),
        (lambda: ma.best_subset(TABLE, 2, 3, "ranking"), "no subset can represent all"),
        (lambda: ma.best_subset(TABLE, 2, 3, "projection", axis=0), "a different one in each subset"),
        (lambda: ma.best_subset(np.empty((0, 3)), 1, 3), "0 record"),
        (lambda: ma.best_subset(TABLE, 2, 3, gamma=2), "'gamma' is not an option"),
        (lambda: ma.best_subset(np.zeros((5, 60)), 20, 3), "too many to try"),
        (lambda: ma.best_subset(ma.datasets.survey(50), 2, 3), "'region' is not numeric"),
        (lambda: ma.select_variables(ma.DependenceTree()), "Pass a fitted DependenceTree"),
        (lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), k=3), "work only with choose='lowest-loss'"),
        (
            lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), method="none"),
            "work only with choose='lowest-loss'",
        ),
        (lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), 2, rule="cover"), "count goes with rule='degree'"),
        (lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), choose="lowest-loss"), "needs the data and k"),
        (lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), choose="best"), "choose='best' is not known"),
        (lambda: ma.select_variables(ma.DependenceTree().fit(TABLE), rule="all"), "rule='all' is not known"),
        (
            lambda: ma.select_variables(
                ma.DependenceTree().fit(TABLE), choose="lowest-loss", X=TABLE.select(["age", "hours"]), k=3
            ),
            "other columns than the tree",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_missing_values_are_named():
    with pytest.raises(InputError, match="missing values in 1 column"):
        ma.best_subset(pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1.0, 2.0, 3.0]}), 1, 2)


LONG = """
import numpy as np
import microagg as ma
ma.best_subset(np.random.default_rng(0).normal(size=(300, 4)), 2, 3)
print("begun", flush=True)
ma.best_subset(np.random.default_rng(0).normal(size=(300, 40)), 5, 3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child")
@pytest.mark.parametrize("after", [0.2, 1.5])
def test_ctrl_c_stops_a_long_search_at_once(after):
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(after)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    child.communicate(timeout=30)
    assert time.monotonic() - began < 5  # it takes far less; a machine may be busy
    assert child.returncode != 0
