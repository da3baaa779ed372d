"""What a Logon is believed for: password and signature, over the Logon as it is written, and in no log."""

import base64
import hashlib
import hmac
import pickle

import pytest

from tests.control.session_peers import START_NS, Bench
from tests.fix_line import MemoryLine
from tests.naive import fix as naive
from venym.control.errors import ConfigurationError
from venym.control.session import Session
from venym.control.session_messages import Outgoing
from venym.control.session_secrets import Secret, secret, variable_of
from venym.control.session_signing import Signature, Signer, ed25519, hmac_sha256

PASSWORD = Secret("inet.password", "hush-hush")
KEY = Secret("inet.key", "k3y-of-ours")
# RFC 8032, 7.1, test 2: the seed in PKCS 8, which is a fixed beginning and the seed; what it signs is one octet.
SEED = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
SIGNED_72 = (
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def pem(seed: str = SEED) -> str:
    der = bytes.fromhex("302e020100300506032b657004220420" + seed)
    return f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n"


def bench(signer: Signer | None, **change) -> Bench:
    made = Bench(**change)
    made.session = Session(made.profile, made.line, signer=signer)
    return made


def logon(made: Bench) -> dict[int, bytes]:
    made.line.open()
    made.session.connected(made.now_ns)
    (octets,) = naive.framed(made.line.take())
    return dict(naive.fields(octets))


# On the wire


def test_without_a_signer_a_logon_says_nothing_of_it():
    assert not {95, 96, 553, 554} & set(logon(bench(None)))


@pytest.mark.parametrize("version", ["FIX.4.2", "FIX.4.4"])
def test_a_user_and_a_password_are_at_the_end_of_the_logon(version):
    made = bench(Signer("trader", PASSWORD), version=version)
    assert made.connect() == ["35=A 34=1 98=0 108=30 553=trader 554=hush-hush"]


@pytest.mark.parametrize(("signer", "tags"), [(Signer("trader"), {553}), (Signer(password=PASSWORD), {554})])
def test_either_may_be_alone(signer, tags):
    assert set(logon(bench(signer))) & {95, 96, 553, 554} == tags


@pytest.mark.parametrize("over", [(52, 35, 34, 49, 56, 554), (35, 49, 56, 34, 52), (553,)])
@pytest.mark.parametrize("separator", ["\x01", "", "|"])
def test_a_signature_is_over_the_named_fields_as_they_are_written_in_the_order_named(over, separator):
    said = logon(bench(Signer("trader", PASSWORD, Signature(hmac_sha256(KEY), over, separator))))
    text = separator.encode().join(said[tag] for tag in over)
    assert base64.b64decode(said[96]) == hmac.new(b"k3y-of-ours", text, hashlib.sha256).digest()
    assert said[95] == b"%d" % len(said[96])


def test_each_logon_has_a_signature_of_its_own():
    made = bench(Signer(signature=Signature(hmac_sha256(KEY), (34, 52))))
    first = logon(made)
    made.cut()
    again = logon(made)
    assert (first[34], again[34]) == (b"1", b"2")
    assert first[96] != again[96]


def test_the_answer_to_a_logon_that_starts_again_is_signed_too():
    made = bench(Signer("trader", PASSWORD)).log_on()
    assert made.hear("A", 1, {98: "0", 108: "30", 141: "Y"}) == ["35=A 34=1 98=0 108=30 141=Y 553=trader 554=hush-hush"]


def test_nothing_but_a_logon_is_signed():
    made = bench(Signer("trader", PASSWORD, Signature(hmac_sha256(KEY), (34,)))).log_on()
    made.order()
    said = made.hear("1", 2, {112: "x"}) + made.hear("2", 3, {7: "1", 16: "0"}) + made.hear("5", 4)
    assert len(said) > 4
    assert not [one for one in said if {"95", "96", "553", "554"} & {part.split("=")[0] for part in one.split()}]


# Ways to sign


def test_hmac_by_a_known_answer():
    """RFC 4231, 4.3."""
    said = hmac_sha256(Secret("key", "Jefe"))(b"what do ya want for nothing?")
    assert said.hex() == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"


def test_a_key_may_be_base64():
    """RFC 4231, 4.2."""
    key = Secret("key", base64.b64encode(b"\x0b" * 20).decode())
    said = hmac_sha256(key, is_base64=True)(b"Hi There")
    assert said.hex() == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"


def test_ed25519_by_a_known_answer():
    assert ed25519(Secret("key", pem()))(b"\x72").hex() == SIGNED_72


def test_a_signature_may_be_written_in_another_way():
    signer = Signer(signature=Signature(ed25519(Secret("key", pem())), (98,), written=bytes.hex))
    said = logon(bench(signer))
    assert (said[95], len(bytes.fromhex(said[96].decode()))) == (b"128", 64)


@pytest.mark.parametrize("text", ["", "nonsense", pem("00"), pem().replace("PRIVATE", "PUBLIC")])
def test_what_is_no_ed25519_key_is_refused_by_its_name(text):
    with pytest.raises(ConfigurationError, match=r"^secret inet\.key: not an Ed25519 private key") as refused:
        ed25519(Secret("inet.key", text))
    assert refused.value.__cause__ is None and not (text and text in str(refused.value))


def test_a_key_of_another_kind_is_refused():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    other = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(ConfigurationError, match="not an Ed25519 private key"):
        ed25519(Secret("inet.key", other.decode()))


def test_a_key_that_is_not_base64_is_refused():
    with pytest.raises(ConfigurationError, match=r"^secret inet\.key: not base64$"):
        hmac_sha256(KEY, is_base64=True)


@pytest.mark.parametrize("over", [(), (96,), (34, 10), (141,), (58,)])
def test_only_what_every_logon_says_can_be_signed(over):
    with pytest.raises(ConfigurationError, match="signature over"):
        Signature(hmac_sha256(KEY), over)


@pytest.mark.parametrize(("tag", "given"), [(553, {"password": PASSWORD}), (554, {"username": "trader"})])
def test_what_is_not_given_cannot_be_signed(tag, given):
    with pytest.raises(ConfigurationError, match=f"signature over {tag}, which is not given"):
        Signer(**given, signature=Signature(hmac_sha256(KEY), (34, tag)))


@pytest.mark.parametrize("text", ["a\x01b", "é"])
def test_what_a_field_cannot_hold_is_refused_without_being_shown(text):
    with pytest.raises(ConfigurationError, match="ASCII") as refused:
        Signer("trader", Secret("inet.password", text))
    assert text not in str(refused.value)
    with pytest.raises(ConfigurationError, match="username"):
        Signer(text)


# Where secrets come from


def test_a_secret_is_a_file_of_systemds_or_else_a_variable(tmp_path):
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "INET_PASSWORD": "of the environment"}
    assert secret("inet.password", environment).reveal() == "of the environment"
    (tmp_path / "inet.password").write_text("of a file\n")
    assert secret("inet.password", environment).reveal() == "of a file"
    assert secret("inet.password", {"INET_PASSWORD": "x"}).reveal() == "x"


def test_only_the_end_of_the_last_line_is_left_out(tmp_path):
    for text, read in ((" a b ", " a b "), ("a\n\n", "a\n"), ("a\r\n", "a"), (pem(), pem()[:-1])):
        (tmp_path / "key").write_bytes(text.encode())
        assert secret("key", {"CREDENTIALS_DIRECTORY": str(tmp_path)}).reveal() == read


def test_a_secret_that_is_nowhere_is_refused_and_said_where_it_was_looked_for(tmp_path):
    with pytest.raises(ConfigurationError, match=r"\$CREDENTIALS_DIRECTORY is not set\) nor \$INET_KEY is there"):
        secret("inet.key", {})
    with pytest.raises(ConfigurationError, match=rf"neither {tmp_path}/inet\.key nor \$INET_KEY is there"):
        secret("inet.key", {"CREDENTIALS_DIRECTORY": str(tmp_path)})


def test_a_secret_that_is_empty_or_cannot_be_read_is_refused_and_no_other_taken(tmp_path):
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "A": "x", "B": "x", "C": "x", "D": ""}
    (tmp_path / "a").write_text("\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "c").write_bytes(b"hush\xff")
    for name, why in (("a", "is empty"), ("b", "Is a directory"), ("c", "not UTF-8"), ("d", r"\$D is empty")):
        with pytest.raises(ConfigurationError, match=why) as refused:
            secret(name, environment)
        assert "hush" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "../shadow", "a/b", ".hidden", "a b", "a..b"])
def test_a_name_is_no_path(name, tmp_path):
    with pytest.raises(ConfigurationError, match="no name of a secret"):
        secret(name, {"CREDENTIALS_DIRECTORY": str(tmp_path)})


def test_the_variable_of_a_name():
    assert [variable_of(name) for name in ("inet.password", "inet-2.key")] == ["INET_PASSWORD", "INET_2_KEY"]


# Shown to nobody


def test_nothing_that_may_be_logged_shows_a_secret():
    line = MemoryLine(Bench().profile)
    signer = Signer("trader", PASSWORD, Signature(hmac_sha256(KEY), (34, 554)))
    made = Bench(line=line)
    made.session = Session(made.profile, line, signer=signer)
    made.connect()
    shown = [PASSWORD, signer, made.session, made.profile, line.said, line.used, vars(made.session), vars(signer)]
    for text in [f"{one!r} {one!s}" for one in shown] + [f"{PASSWORD}", "%s" % KEY]:  # noqa: UP031
        assert "hush" not in text and "k3y" not in text
    assert (line.said[0].msg_type, line.said[0].body) == ("A", ((98, "0"), (108, "30")))


def test_a_secret_is_not_pickled():
    with pytest.raises(TypeError, match="not to be written"):
        pickle.dumps(PASSWORD)


def test_what_more_a_message_says_is_asked_for_once_with_what_it_says():
    asked = []
    line = MemoryLine(Bench().profile)
    line.open()
    line.send(Outgoing("A", ((98, "0"),), ((50, "desk"),), lambda said: asked.append(dict(said)) or ()), START_NS)
    sent = naive.time(START_NS).decode()
    assert asked == [{35: "A", 34: "1", 49: "VENYM", 50: "desk", 52: sent, 56: "INET", 98: "0"}]
