"""The description of the service, and requests made up from it: whatever fits it is answered, and never with 5xx."""

from __future__ import annotations

import warnings

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from serve.server import PATIENCE

OPERATIONS = [
    ("POST", "/v1/rewrite"),
    ("POST", "/v1/rewrite/batch"),
    ("POST", "/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{name}"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/metrics"),
]


@pytest.fixture(scope="module")
def description(server):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return schemathesis.openapi.from_url(f"{server.address}/openapi.json")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "place"), OPERATIONS)
def test_whatever_fits_is_answered(description, method, place):
    @settings(max_examples=30 if method == "POST" else 5, suppress_health_check=list(HealthCheck))
    @given(case=description[place][method].as_strategy())
    def check(case):
        # A schema cannot say that one of two fields is needed, or that a text must not be blank.
        case.call_and_validate(timeout=PATIENCE, excluded_checks=[positive_data_acceptance])

    check()


def test_nothing_is_left_out(server):
    paths = server.get("/openapi.json").json()["paths"]
    described = [(method.upper(), place) for place, methods in paths.items() for method in methods]
    assert sorted(described) == sorted(OPERATIONS)


def test_examples_are_given_and_work(server):
    document = server.get("/openapi.json").json()
    for method, place in OPERATIONS:
        if method == "POST":
            body = document["paths"][place]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            examples = document["components"]["schemas"][body.rpartition("/")[2]]["examples"]
            assert examples
            for example in examples:
                assert server.post(place, example).status_code == 200, (place, example)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_and_a_stream_have_the_kind_of_content_that_is_described(description, server, stream):
    place = "/v1/chat/completions"
    document = server.get("/openapi.json").json()["paths"][place]["post"]
    body = {"messages": [{"role": "user", "content": "Why?"}], "stream": stream}
    answer = server.post(place, body)
    assert answer.status_code == 200
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in document["responses"]["200"]["content"]
    description[place]["POST"].Case(body=body, media_type="application/json").call_and_validate(timeout=PATIENCE)
