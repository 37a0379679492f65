"""The bound on rounding followed the largest coordinate alone; two points far apart in all three axes err by more."""

from decimal import Decimal

import oracles
from clearance.elements import closest


def test_bracket_of_two_points_left_their_distance_out():
    a = [[-0.5212184145540477, -0.6344709239564489, 0.717441737254459]]
    b = [[0.7053113511100114, 0.7170106676470149, -0.722783910263827]]
    gap, exact = closest(a, b), oracles.signed_distance(a, 0, b, 0)
    assert Decimal(float(gap.lower)) <= exact <= Decimal(float(gap.upper))
