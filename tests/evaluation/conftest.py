"""No property test fails because the machine was busy."""

from hypothesis import settings

settings.register_profile("whatever-time-it-takes", deadline=None)
settings.load_profile("whatever-time-it-takes")
