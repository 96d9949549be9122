"""Keys, headers, other origins, paths, proxies."""

from __future__ import annotations

import socket

import httpx2
import pytest

from serve.server import PATIENCE, until

KEY, OTHER = "first-key-of-many-0", "second-key-of-many-1"
BODY = {"history": ["well now , do you know Oslo ?", "Sure ."], "utterance": "where is it now ?"}


@pytest.fixture(scope="module")
def locked(serving, tmp_path_factory):
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(f"{OTHER}\n", encoding="utf-8")
    return serving(
        *("--api-key-file", keys, "--cors-origin", "https://app.example", "--trusted-proxy", "127.0.0.1"),
        UREWRITE_API_KEYS=KEY,
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong-key-of-many-0"},
        {"authorization": f"Bearer {KEY}x"},
        {"authorization": f"Bearer {KEY[:-1]}"},
        {"authorization": f"Basic {KEY}"},
        {"authorization": KEY},
        {"authorization": "Bearer"},
        {"x-api-key": ""},
        {"x-api-key": "wrong"},
        {"authorization": "Bearer \xff\xfe".encode("latin-1")},
    ],
)
def test_without_a_key_nothing_is_done(locked, headers):
    for answer in (
        locked.post("/v1/rewrite", BODY, headers=headers),
        locked.post("/v1/chat/completions", {}, headers=headers),
        locked.get("/v1/models", headers=headers),
        locked.get("/metrics", headers=headers),
    ):
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize(
    "headers",
    [{"authorization": f"Bearer {KEY}"}, {"authorization": f"bearer {OTHER}"}, {"x-api-key": KEY}],
)
def test_any_of_the_keys_will_do(locked, headers):
    assert locked.post("/v1/rewrite", BODY, headers=headers).json()["text"] == "where is Oslo now ?"


def test_health_and_page_need_none(locked):
    for place in ("/", "/health/live", "/health/ready", "/openapi.json"):
        assert locked.get(place).status_code == 200


def test_keys_are_not_logged(locked):
    assert KEY not in locked.log
    assert OTHER not in locked.log
    assert "wrong-key" not in locked.log


@pytest.mark.parametrize("place", ["/", "/v1/models", "/nothing", "/health/live", "/metrics", "/openapi.json"])
def test_headers_for_browsers(server, place):
    headers = server.get(place).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers
    assert headers["cache-control"] == ("no-cache" if place == "/" else "no-store")


def test_other_origins_are_not_told_that_they_may_read(server):
    answer = server.post("/v1/rewrite", BODY, headers={"origin": "https://app.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    asked = httpx2.options(server.address + "/v1/rewrite", headers={"origin": "https://app.example"}, timeout=PATIENCE)
    assert asked.status_code == 405


def test_an_origin_that_is_allowed(locked):
    headers = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    asked = httpx2.options(locked.address + "/v1/rewrite", headers=headers, timeout=PATIENCE)
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    refused = httpx2.options(
        locked.address + "/v1/rewrite", headers={**headers, "origin": "https://evil.example"}, timeout=PATIENCE
    )
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../settings.py",
        "/..%2fsettings.py",
        "/%2e%2e/settings.py",
        "/..%5csettings.py",
        "/page/../../settings.py",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/index.html/../../settings.py",
        "/index.html%00.txt",
        "/./index.html",
        "/.",
        "/..",
    ],
)
def test_no_path_leads_to_a_file(server, path):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    assert answer.split()[1] in (b"404", b"400")
    assert b"ServeSettings" not in answer
    assert b"root:" not in answer


def test_the_page(server):
    answer = server.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "urewrite" in answer.text
    again = server.get("/", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert httpx2.head(server.address + "/", timeout=PATIENCE).status_code == 200


def test_forwarded_addresses_are_believed_only_if_asked(server, locked):
    forwarded = {"x-forwarded-for": "203.0.113.9"}
    server.get("/health/live", headers=forwarded)
    locked.get("/health/live", headers=forwarded)
    until(lambda: "203.0.113.9" in locked.log)  # a line is written once the answer is on its way
    assert "203.0.113.9" not in server.log


def test_a_request_id_comes_back(server):
    assert server.get("/health/live", headers={"x-request-id": "abc-1.2_3"}).headers["x-request-id"] == "abc-1.2_3"
    for odd in ("a b", "x" * 65, 'a"b', "a\tb"):
        found = server.get("/health/live", headers={"x-request-id": odd}).headers["x-request-id"]
        assert len(found) == 32
        assert odd not in server.log
