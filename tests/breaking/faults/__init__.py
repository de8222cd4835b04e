"""The faults that `./dev break` knows, by name, in the order in which an ordinary run has them."""

from tests.breaking.faults.clock import ClockFault
from tests.breaking.faults.disk import DiskFault
from tests.breaking.faults.fault import Fault
from tests.breaking.faults.memory import MemoryFault
from tests.breaking.faults.migrations import MigrationFault
from tests.breaking.faults.standby import StandbyFault

FAULTS: dict[str, type[Fault]] = {
    "kills": Fault,
    "standby": StandbyFault,
    "disk": DiskFault,
    "clock": ClockFault,
    "memory": MemoryFault,
    "migrations": MigrationFault,
}
