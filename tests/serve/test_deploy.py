"""The files of `deploy/` name settings that there are, and agree with one another."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
import yaml

from urewrite.serve.settings import ServeSettings, load_settings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@pytest.mark.parametrize("name", ["Containerfile", "urewrite.service", "compose.yaml", "serve.yaml"])
def test_every_variable_is_a_setting(name):
    variables = set(re.findall(r"UREWRITE_([A-Z_]*[A-Z])", (DEPLOY / name).read_text(encoding="utf-8")))
    assert {variable.lower() for variable in variables} <= {*ServeSettings.model_fields, "config"}


def test_the_settings_file_is_read():
    settings = load_settings({"config": DEPLOY / "serve.yaml"}, {}).settings
    assert settings.workers == 2
    defaults = ServeSettings()
    assert settings == defaults.model_copy(update={"workers": 2}), "the file shows defaults that have changed"


def test_there_is_time_to_stop():
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(DEPLOY / "urewrite.service", encoding="utf-8")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    for seconds in (
        unit["Service"]["TimeoutStopSec"],
        compose["services"]["urewrite"]["stop_grace_period"].rstrip("s"),
    ):
        assert float(seconds) > ServeSettings().stop_seconds


def test_the_proxys_network_is_the_one_that_is_trusted():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    (network,) = compose["networks"]["inside"]["ipam"]["config"]
    assert compose["services"]["urewrite"]["environment"]["UREWRITE_TRUSTED_PROXIES"] == network["subnet"]
