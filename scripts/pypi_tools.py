"""Programs from PyPI that checks of the sources and documents need."""

import os
import subprocess
import sys


def install(folder, requirements):
    """Makes the virtual environment `folder` have the pinned `requirements`.

    Does nothing if an earlier call has installed the same ones.
    """
    wanted = "\n".join(requirements) + "\n"
    stamp = os.path.join(folder, "installed.txt")
    try:
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return
    except OSError:
        pass
    print("Installing programs from PyPI into %s" % folder, flush=True)
    # Debian's Python, for which setup.sh installs venv.
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    for command in ([python, "-m", "venv", "--clear", folder],
                    [os.path.join(folder, "bin", "pip"), "-q", "--disable-pip-version-check",
                     "install", "--only-binary=:all:", *requirements]):
        if subprocess.run(command).returncode != 0:
            sys.exit("cannot install programs from PyPI into %s" % folder)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
