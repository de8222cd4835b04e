"""All drivers, in the order in which the report has them."""

from collections.abc import Sequence

from tests.breaking.drivers.driver import Driver
from tests.breaking.drivers.exports import Exports
from tests.breaking.drivers.imports import Imports
from tests.breaking.drivers.originals import Originals
from tests.breaking.drivers.packages import Packages
from tests.breaking.drivers.sign_ins import SignIns
from tests.breaking.drivers.signatures import Signatures
from tests.breaking.drivers.telling import Telling

DRIVERS: Sequence[type[Driver]] = (
    SignIns,
    Telling,
    Signatures,
    Originals,
    Imports,
    Exports,
    Packages,
)
