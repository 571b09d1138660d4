"""Clusters of Ray that are refused before anything is sent to them; test_extraction.py starts one."""

import importlib.metadata
import importlib.util
import sys
from types import SimpleNamespace

import pytest

from truemoment.base.boundary.distribution.cluster import ray_cluster
from truemoment.base.errors import InputError, MissingPackageError, UsageError

NOBODY = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """No cluster and no token is known; a home folder of the test's own."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def refused(error):
    """Return what is said of a cluster that is not connected to."""
    with pytest.raises(error) as found, ray_cluster(2):
        pass
    return str(found.value)


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert refused(MissingPackageError) == "--engine ray needs the package ray: pip install 'truemoment[scale]'"


@pytest.mark.parametrize("version", ["2.40.0", "2.51.1", "1.13"])
def test_a_ray_without_tokens_is_refused(monkeypatch, version):
    # Tokens came with 2.52: https://docs.ray.io/en/latest/ray-security/token-auth.html
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    assert refused(MissingPackageError) == (
        f"--engine ray (there is {version}, without tokens) needs the package ray>=2.52: "
        "pip install 'truemoment[scale]'"
    )


def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", NOBODY)
    assert refused(InputError).startswith(f"field RAY_ADDRESS: the cluster at {NOBODY} cannot be reached (")


@pytest.mark.parametrize("named", [True, False])
def test_a_token_of_a_cluster_that_others_can_read_is_refused(home, monkeypatch, named):
    token = home / "token" if named else home / ".ray" / "auth_token"
    token.parent.mkdir(exist_ok=True)
    token.write_text("secret")
    token.chmod(0o644)  # as `ray get-auth-token --generate` leaves it
    monkeypatch.setenv("RAY_ADDRESS", NOBODY)
    if named:
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    assert refused(InputError) == (
        f"{token}: can be read by others, and contains the token of a cluster; chmod 600 {token}"
    )
    token.chmod(0o600)
    assert "cannot be reached" in refused(InputError)


def test_a_ray_that_was_imported_without_tokens_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert refused(UsageError).startswith("Ray was imported without RAY_AUTH_MODE=token, expected it in the environ")
