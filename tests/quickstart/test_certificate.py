import ssl
import stat
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography.x509 import DNSName, IPAddress, SubjectAlternativeName, load_pem_x509_certificate

from invoicing.quickstart.certificate import Certificate, ensure_certificate

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def certificate(tmp_path) -> Certificate:
    return ensure_certificate(tmp_path, now=NOW)


def read(path):
    return load_pem_x509_certificate(path.read_bytes())


def test_it_is_for_this_machine_only(certificate):
    names = read(certificate.server).extensions.get_extension_for_class(SubjectAlternativeName)

    assert names.value.get_values_for_type(DNSName) == ["localhost"]
    assert names.value.get_values_for_type(IPAddress) == [
        ip_address("127.0.0.1"),
        ip_address("::1"),
    ]


def test_it_lasts_no_longer_than_browsers_accept(certificate):
    made = read(certificate.server)

    assert made.not_valid_before_utc <= NOW < made.not_valid_after_utc
    assert made.not_valid_after_utc - made.not_valid_before_utc <= timedelta(days=397)
    assert certificate.expires_at == made.not_valid_after_utc


def test_the_authority_signed_it_and_can_sign_no_other(certificate, tmp_path):
    read(certificate.server).verify_directly_issued_by(read(certificate.authority))
    keys = [path.name for path in tmp_path.iterdir() if b"PRIVATE KEY" in path.read_bytes()]

    assert keys == ["server.pem"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca.pem", "server.pem"]
    assert certificate.server.read_bytes().count(b"BEGIN EC PRIVATE KEY") == 1


def test_the_key_is_its_own_and_nobody_else_reads_it(certificate):
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate.server)

    assert stat.S_IMODE(certificate.server.stat().st_mode) == 0o600


def test_it_is_kept_until_its_last_thirty_days(certificate, tmp_path):
    before = (certificate.authority.read_bytes(), certificate.server.read_bytes())
    late = certificate.expires_at - timedelta(days=30)

    kept = ensure_certificate(tmp_path, now=late)

    assert kept == certificate
    assert (kept.authority.read_bytes(), kept.server.read_bytes()) == before


def test_it_is_renewed_in_its_last_thirty_days(certificate, tmp_path):
    before = certificate.server.read_bytes()
    late = certificate.expires_at - timedelta(days=30) + timedelta(seconds=1)

    renewed = ensure_certificate(tmp_path, now=late)

    assert renewed.server.read_bytes() != before
    assert renewed.expires_at == late + timedelta(days=396) - timedelta(
        microseconds=late.microsecond
    )
    read(renewed.server).verify_directly_issued_by(read(renewed.authority))


def test_one_of_a_clock_that_was_ahead_is_made_anew(certificate, tmp_path):
    begin = read(certificate.server).not_valid_before_utc
    assert ensure_certificate(tmp_path, now=begin) == certificate

    earlier = begin - timedelta(seconds=1)
    renewed = ensure_certificate(tmp_path, now=earlier)

    made = read(renewed.server)
    assert made.not_valid_before_utc <= earlier < made.not_valid_after_utc


@pytest.mark.parametrize("lost", ["ca.pem", "server.pem"])
def test_if_one_file_is_lost_both_are_made_anew(certificate, tmp_path, lost):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / lost).unlink()

    ensure_certificate(tmp_path, now=NOW)

    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.keys() == before.keys()
    assert all(after[name] != before[name] for name in before)


def test_a_damaged_file_is_made_anew(certificate, tmp_path):
    certificate.server.write_bytes(b"-----BEGIN CERTIFICATE-----\nno\n")

    renewed = ensure_certificate(tmp_path, now=NOW)

    read(renewed.server).verify_directly_issued_by(read(renewed.authority))
