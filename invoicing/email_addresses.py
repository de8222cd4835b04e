"""The one form in which an e-mail address is kept and compared, however it is spelled."""

import unicodedata

import idna

# A longer domain cannot exist, and a stranger may type megabytes.
MAX_DOMAIN_LENGTH = 253


def fold_address(text: str) -> str:
    """Return the address in lower case, with plain letters and the domain as DNS has it.

    `Dana@Exämple.de`, in letters of any width, is `dana@xn--exmple-cua.de`. What is no address is
    folded as far as it goes.
    """
    mailbox, at, domain = unicodedata.normalize("NFKC", text).strip().lower().rpartition("@")
    return f"{unicodedata.normalize('NFKC', mailbox)}{at}{_fold_domain(domain)}"


def _fold_domain(domain: str) -> str:
    if len(domain) > MAX_DOMAIN_LENGTH:
        return domain
    try:
        # The mapping of browsers (UTS 46, not transitional), which send a typed address so.
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        return domain
