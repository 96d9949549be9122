"""What a server is told: by flags, by the environment, by a file, in this order; every value is checked and named."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from urewrite.errors import BadInputError
from urewrite.session import cores_at_hand

PREFIX = "UREWRITE_"
FILE = "config"
"""Not a setting itself: where the file is, as the flag --config or the variable UREWRITE_CONFIG."""
SHORTEST_KEY = 16
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that tells `prometheus_client` where all workers count; it is read when that is loaded."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class ServeSettings(BaseModel):
    """All settings of a server, each with its default. Limits hold for one worker process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field("auto", description="A bundled model, a model folder, or owner/name on the hub.")
    host: str = Field("127.0.0.1", min_length=1, description="The address to listen on; 0.0.0.0 means every one.")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    workers: int = Field(1, ge=1, le=64, description="Processes that share the port, each with its own model.")
    threads: int | None = Field(
        None, ge=1, description="Cores the model of a worker takes; by default the workers share those at hand."
    )
    max_batch_size: int = Field(16, ge=1, le=1024, description="Most dialogues that are computed together.")
    batch_wait_ms: float = Field(
        2.0, ge=0, le=1000, description="Longest time to wait for more dialogues; one client alone never waits."
    )
    max_concurrent_requests: int = Field(256, ge=1, description="Requests at work at once; more are answered 503.")
    max_waiting_dialogues: int = Field(2048, ge=1, description="Dialogues in the queue; more are answered 503.")
    max_body_bytes: int = Field(1 << 20, ge=1024, description="Largest body of a request.")
    max_turns: int = Field(100, ge=1, description="Most turns of a history.")
    max_turn_chars: int = Field(10_000, ge=1, description="Most characters of a turn or an utterance.")
    max_batch_items: int = Field(256, ge=1, description="Most dialogues of one request.")
    request_seconds: float = Field(10.0, gt=0, le=3600, description="Time to compute an answer; then 503.")
    body_seconds: float = Field(10.0, gt=0, le=3600, description="Time to receive headers, and then a body; then 408.")
    stop_seconds: float = Field(30.0, gt=0, le=7200, description="Time to finish accepted requests once told to stop.")
    api_keys: tuple[SecretStr, ...] = Field(
        (), description="Keys, one of which every request needs. No flag: command lines are seen by everybody."
    )
    api_key_file: Path | None = Field(None, description="A file with one such key a line.")
    cors_origins: tuple[str, ...] = Field((), description="Origins whose pages may call the API, as https://host.")
    trusted_proxies: tuple[str, ...] = Field(
        (), description="Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are believed."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    log_text: bool = Field(False, description="Log what is rewritten, too. Not for other people's conversations.")

    @field_validator("api_keys", "cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        """As the environment has lists."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("api_keys")
    @classmethod
    def _keys_hard_to_guess(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for key in value:
            _check_key(key.get_secret_value())
        return value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            parts = urlsplit(origin)
            if origin != "*" and (
                parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"
            ):
                raise ValueError(f"expected an origin such as https://example.org, or *, found {origin!r}")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            if address != "*":
                ipaddress.ip_network(address, strict=False)
        return value

    @model_validator(mode="after")
    def _agree(self) -> ServeSettings:
        if self.max_batch_items > self.max_waiting_dialogues:
            raise ValueError(
                "max_batch_items must not be above max_waiting_dialogues: such a request could never be taken"
            )
        if self.stop_seconds < self.body_seconds + self.request_seconds:
            raise ValueError("stop_seconds must be at least body_seconds + request_seconds, what a request may take")
        return self

    def keys(self) -> tuple[str, ...]:
        """Every API key, those of the file included."""
        keys = [key.get_secret_value() for key in self.api_keys]
        if self.api_key_file is not None:
            keys += read_keys(self.api_key_file)
        return tuple(keys)

    def cores(self) -> int:
        """The threads of a worker's model."""
        if self.threads is not None:
            return self.threads
        return max(1, cores_at_hand() // self.workers)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each that is not a default came from."""

    settings: ServeSettings
    origins: Mapping[str, str]

    def lines(self) -> list[str]:
        """For people: every setting, its value and its origin; keys are counted, not shown."""
        shown: list[str] = []
        for name in ServeSettings.model_fields:
            value: object = getattr(self.settings, name)
            if name == "api_keys":
                value = f"{len(self.settings.api_keys)} keys"
            elif isinstance(value, tuple):
                value = ", ".join(map(str, value)) or "none"
            elif value is None:
                value = self.settings.cores() if name == "threads" else "none"
            shown.append(f"{name} = {value} ({self.origins.get(name, 'default')})")
        return shown


def load_settings(flags: Mapping[str, object], environ: Mapping[str, str] | None = None) -> Loaded:
    """Put settings together; a flag that was not given is None. A mistake is an error that says where it was made."""
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    file = flags.get(FILE) or environ.get(PREFIX + FILE.upper())
    if file:
        path = Path(str(file)).expanduser()
        for name, value in _read(path).items():
            values[name], origins[name] = value, str(path)
    for name in ServeSettings.model_fields:
        variable = PREFIX + name.upper()
        if environ.get(variable):
            values[name], origins[name] = environ[variable], variable
        if flags.get(name) not in (None, []):
            values[name], origins[name] = flags[name], flag_of(name)
    try:
        settings = ServeSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        reason = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = f"there is no such setting; there are {', '.join(ServeSettings.model_fields)}"
        raise BadInputError(reason, file=origins.get(name), field=name or None) from None
    settings.keys()  # a file of keys that cannot be used is said now
    return Loaded(settings, origins)


def flag_of(name: str) -> str:
    """The flag of a setting; one that may be repeated is in the singular."""
    singular = {"cors_origins": "cors_origin", "trusted_proxies": "trusted_proxy"}
    return "--" + singular.get(name, name).replace("_", "-")


def read_keys(path: Path) -> list[str]:
    """The keys of a file, one a line; blank lines and those that begin with # are passed over."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInputError(f"cannot be read: {error.strerror}", file=path, field="api_key_file") from error
    except UnicodeDecodeError:
        raise BadInputError("is not UTF-8", file=path, field="api_key_file") from None
    keys: list[str] = []
    for number, line in enumerate(lines, 1):
        key = line.strip()
        if not key or key.startswith("#"):
            continue
        try:
            _check_key(key)
        except ValueError as error:
            raise BadInputError(str(error), file=path, line=number) from None
        keys.append(key)
    if not keys:
        raise BadInputError("holds no key", file=path, field="api_key_file")
    return keys


def _check_key(key: str) -> None:
    """What is wrong with a key is said without the key."""
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"a key of {len(key)} characters can be guessed: expected at least {SHORTEST_KEY}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is made of ASCII characters without blanks, as a header can carry them")


def _read(path: Path) -> dict[str, object]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"cannot be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError:
        raise BadInputError("is not UTF-8", file=path) from None
    except yaml.YAMLError as error:  # whose text shows lines of the file, in which keys may be
        line = error.problem_mark.line + 1 if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark else None
        raise BadInputError("is not YAML", file=path, line=line) from None
    if document is None:
        return {}
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise BadInputError("expected settings as `name: value` lines", file=path)
    return document
