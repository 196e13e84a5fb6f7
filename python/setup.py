"""Builds the wheel; `make wheel` puts the library into tile/_lib before.

The library does not depend on the version of Python, so the wheel's tag is
py3-none-PLATFORM, with the platform of $TILE_WHEEL_PLATFORM.
"""

import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

PLATFORM = os.environ.get("TILE_WHEEL_PLATFORM")


class Wheel(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", PLATFORM) if PLATFORM else super().get_tag()


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return PLATFORM is not None


setup(cmdclass={"bdist_wheel": Wheel}, distclass=PlatformDistribution)
