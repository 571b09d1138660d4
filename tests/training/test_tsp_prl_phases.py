"""The phases of TSP-PRL in a run: the number of a training step, over epochs, batches and an interruption."""

import pytest

from truemoment.learning.models.tsp_prl import TspPrl
from truemoment.learning.training.performing import perform

pytestmark = pytest.mark.slow


@pytest.fixture
def numbers(monkeypatch):
    """The numbers of steps that models get."""
    found = []
    start_step = TspPrl.start_step

    def note(self, number):
        found.append(number)
        start_step(self, number)

    monkeypatch.setattr(TspPrl, "start_step", note)
    return found


def test_steps_are_counted_over_epochs_and_a_resumed_run_goes_on_counting(make_run, tmp_path, numbers):
    """Specification, section 11: iterations, not epochs, switch phases."""

    def cut(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(make_run("tsp-prl", "train.epochs=3"), tmp_path / "run", on_epoch=cut)
    n_before = len(numbers)
    perform(make_run("tsp-prl", "train.epochs=3"), tmp_path / "run")
    assert numbers == list(range(len(numbers)))
    assert 2 * len(numbers) == 3 * n_before


def test_batches_whose_gradients_are_added_up_are_one_step(make_run, tmp_path, numbers):
    perform(make_run("tsp-prl", "train.epochs=2"), tmp_path / "one")
    n_batches = len(numbers) // 2
    numbers.clear()
    perform(make_run("tsp-prl", "train.epochs=2", "train.accumulate=2"), tmp_path / "two")
    of_epoch = [at // 2 for at in range(n_batches)]
    assert numbers == of_epoch + [of_epoch[-1] + 1 + number for number in of_epoch]
