"""A PostgreSQL of its own for as long as a command runs: ``python -m tests.support.postgres COMMAND …``.

Debian's package is enough (``apt install postgresql``); no service of the system is touched. The command finds the address in
VAULT_DATABASE_UNDER_TEST. The server listens on loopback only and is gone, with all that it held, when the command ends.
"""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ADDRESS = "VAULT_DATABASE_UNDER_TEST"
USER = "deepdelve"
PLACES = ("/usr/lib/postgresql", "/usr/local/lib/postgresql")


def programs() -> Path:
    """The folder of ``initdb`` and ``pg_ctl``; the newest where there are several."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = [folder for place in PLACES for folder in Path(place).glob("*/bin") if (folder / "initdb").is_file()]
    if not folders:
        raise SystemExit("PostgreSQL is not installed. On Debian: apt install postgresql")
    return max(folders, key=lambda folder: float(folder.parent.name))


def as_somebody() -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as the user that its package made."""
    if os.geteuid() != 0:
        return []
    with contextlib.suppress(KeyError):
        pwd.getpwnam("postgres")
        return ["runuser", "-u", "postgres", "--"]
    raise SystemExit("PostgreSQL does not run as root, and there is no user 'postgres'. Run this as another user.")


@contextlib.contextmanager
def server() -> Iterator[str]:
    """A running server; gives the address of an empty database."""
    bin_, prefix = programs(), as_somebody()
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder, "data")
        data.mkdir()
        if prefix:
            owner = pwd.getpwnam("postgres")
            for path in (folder, data):
                os.chown(path, owner.pw_uid, owner.pw_gid)

        def run(program: str, *arguments: str) -> None:
            subprocess.run([*prefix, str(bin_ / program), *arguments], check=True, cwd=folder, stdout=subprocess.DEVNULL)

        run("initdb", "-D", str(data), "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "-D", str(data), "-w", "-l", str(Path(folder, "log")), "-o", options, "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", USER, USER)
            yield f"postgresql://{USER}@127.0.0.1:{port}/{USER}"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")


def main(command: list[str]) -> int:
    with server() as address:
        return subprocess.run(command, env={**os.environ, ADDRESS: address}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
