"""Scenarios and the files of the thesis from any bytes."""

from fuzzing import fuzz

if __name__ == "__main__":
    fuzz("scenario")
