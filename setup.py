"""Build hook: the source root is ``src/`` and the configuration template lives at the top of the project."""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

TEMPLATE = "config_template.yaml"


class BuildPy(build_py):
    """Copies the configuration template into the built package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "deepdelve", TEMPLATE)
            self.mkpath(str(target.parent))
            self.copy_file(TEMPLATE, str(target))


setup(
    packages=["deepdelve", *(f"deepdelve.{name}" for name in find_packages("src"))],
    package_dir={"deepdelve": "src"},
    cmdclass={"build_py": BuildPy},
)
