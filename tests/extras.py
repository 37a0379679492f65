"""Extras that are not installed: tests that need one skip, and say which."""

from importlib.util import find_spec


def missing_extra(error):
    """Return the package that an error is for want of, or None if it is about something else.

    Parameters
    ----------
    error : BaseException
        The library raises its own ImportError from that of the package; either will do.

    Returns
    -------
    str or None
    """
    for one in (error, error.__cause__):
        if isinstance(one, ModuleNotFoundError) and one.name:
            package = one.name.partition(".")[0]
            if find_spec(package) is None:
                return package
    return None
