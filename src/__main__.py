"""``deepdelve`` and ``python -m deepdelve``."""

import sys

from deepdelve.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
