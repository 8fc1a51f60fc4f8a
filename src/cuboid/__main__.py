"""`python -m cuboid` is the command `cuboid`."""

from cuboid.cli import main

if __name__ == "__main__":
    main()
