"""The device of predictions and the words for a machine; GPUs are stand-ins, as none is at hand."""

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from truemoment.learning.training.hardware import hardware, prediction_device  # noqa: E402 - PyTorch may be missing


@pytest.fixture
def gpus(monkeypatch):
    """Make PyTorch report some GPUs."""

    def report(count, name="a GPU"):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: name)

    return report


def test_without_a_gpu_the_processor_predicts(gpus):
    gpus(0)
    assert prediction_device() == torch.device("cpu")
    assert hardware().startswith(f"{torch.get_num_threads()} threads, ")
    assert hardware().endswith(f"torch {torch.__version__}")


def test_with_gpus_one_of_them_predicts(gpus):
    gpus(2, "H100")
    assert prediction_device() == torch.device("cuda")
    assert hardware() == "2 x H100"
