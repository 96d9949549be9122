"""`python -m urewrite` is `urewrite`."""

from urewrite.cli.main import main

if __name__ == "__main__":
    main()
