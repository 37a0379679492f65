"""Robots from any bytes."""

from fuzzing import fuzz

if __name__ == "__main__":
    fuzz("urdf")
