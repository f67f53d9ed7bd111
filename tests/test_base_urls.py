"""Base URLs: which ones are taken, where they lead, and what the others hear (spec 8.5.base-url), in both runtimes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kavachc.bindings.http_url import parse_url
from kavachc.interpreter import provider
from kavachc.semantics.schema import Schema
from kavachc.semantics.typed_ast import ModelSettings
from test_wire_formats import KEY, Engine, Reply, ask_natively

FREE_TEXT = Schema("", "none")
#: How a URL is written, and how its root is sent.
TAKEN = {
    "http://a": "http://a",
    "HTTP://A.Example:080/V1/v1/": "http://a.example/V1",
    "https://a:443": "https://a",
    "http://a:443/": "http://a:443",
    "http://a:/x//": "http://a/x",
    "http://127.0.0.1:8080": "http://127.0.0.1:8080",
    "http://localhost.:1": "http://localhost.:1",
    "http://my_service:1/a%2Fb/@/...": "http://my_service:1/a%2Fb/@/...",
    "http://xn--bcher-kva.example": "http://xn--bcher-kva.example",
    "http://[::1]:80/v1": "http://[::1]",
    "http://[::FFFF:1.2.3.4]": "http://[::ffff:1.2.3.4]",
    f"http://{'a' * 63}.b": f"http://{'a' * 63}.b",
}
FORM = 'the base URL "{}" is no http or https URL'
HOST = 'the host in the base URL "{}" is neither a name nor an address'
DOTS = 'the base URL "{}" has "." or ".." in its path'
LOGIN = "the base URL has a name or a password in it, which no request would carry"
REFUSED = {
    FORM: ["a", "ftp://a", "http://", "http:///a", "http://:80", "http://a:0", "http://a:65536", "http://a:x",
           "http://a:-1", "http://a:+1", "http://a:000080", "http://a b", "http://a/\n", "http://a/ä", "http://bücher.example",
           "http://a?b", "http://a/?b", "http://a/#b", "http://a/{b}", "http://a\\b", "http://a/%", "http://a/%4", "http://a/%zz",
           "http://[::1", "http://[::1]a", "http://[::1]:x", "http://a]", "http://[[::1]]", "http://" + "a" * 9000],
    HOST: ["http://127.1", "http://2130706433", "http://0x7f.1", "http://0x7f000001", "http://0x", "http://127.0.0.1.",
           "http://0177.0.0.1", "http://1.2.3.4.5", "http://1.2.3.256", "http://a.1", "http://a..b", "http://.a", "http://a..",
           "http://.", "http://a%62", "http://a,b", "http://a!", "http://[::zz]", "http://[fe80::1%lo]", "http://[fe80::1%25lo]",
           "http://[127.0.0.1]", "http://[]", f"http://{'a' * 64}.b", "http://" + "a." * 127 + "a"],
    DOTS: ["http://a/.", "http://a/..", "http://a/./b", "http://a/b/../c", "http://a/../v1"],
    LOGIN: ["http://u@a", "http://u:p@a:1/x", "https://@a", "ftp://u:p@a", "u:p@a", "http://u:p@a b"],
}  # fmt: skip


def both(url: str) -> tuple[str, str]:
    """Where a request goes, or why none does: in Python, natively."""
    model = ModelSettings(name="m", base_url=url)
    endpoint = provider.Endpoint(model, url, KEY)
    said = provider.obstacle(endpoint) or provider.request(endpoint, FREE_TEXT, "p").url
    engine = Engine(Reply(400))
    answer = ask_natively(engine, model, FREE_TEXT, "p")
    return said, engine.requests[0].url if engine.requests else answer.text


@pytest.mark.parametrize("url", list(TAKEN))
def test_urls_that_are_taken(url: str) -> None:
    sent = f"{TAKEN[url]}/v1/messages"
    assert both(url) == (sent, sent)


@pytest.mark.parametrize("text", list(REFUSED))
def test_urls_that_are_refused(text: str) -> None:
    for url in REFUSED[text]:
        said = text.format(url)
        assert both(url) == (said, said), url
        assert isinstance(parse_url(url), str)


PIECES = (
    "http https ftp : / // :// a B 1 0 x 0x . .. - _ %41 % @ [ ] ::1 :: 127.0.0.1 255 256 :80 :443 /v1 ~ ä ? fe80::1"
    " ::ffff:1.2.3.4"
).split()
written = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda pieces: "http://" + "".join(pieces)),
)


@settings(max_examples=400, deadline=None)
@given(written)
def test_both_runtimes_say_the_same(url: str) -> None:
    said, native = both(url)
    assert said == native or not url


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(["1", "0", "f", "ffff", "10000", ":", "::", ".", "1.2.3.4", "01", "g"]), max_size=10))
def test_both_runtimes_know_the_same_addresses(pieces: list[str]) -> None:
    said, native = both(f"http://[{''.join(pieces)}]")
    assert said == native
