"""``deepdelve serve``: the HTTP API."""

import argparse
import sys

from deepdelve.cli.parser import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``serve``."""
    parser.add_argument("--host", metavar="ADDRESS", help="the address to listen on; any but this machine's own needs serve.password")
    parser.add_argument("--port", type=count, metavar="N", help="the port, 8420 unless set")
    parser.add_argument("--config", metavar="FILE", help="a settings file instead of your own")


def main(args: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    from deepdelve.api.server import serve
    from deepdelve.cli.conduct import settings_for

    settings = settings_for(args, {"serve.host": args.host, "serve.port": args.port})
    serve(settings, say=lambda line: print(line, file=sys.stderr, flush=True))
    return 0
