"""The slash commands of the history."""

from deepdelve.core.errors import UsageError
from deepdelve.tui.controller import Controller


async def search(controller: Controller, argument: str) -> None:
    """Searches the prompts."""
    controller.front.open_screen("search", terms=argument)


async def deep(controller: Controller, argument: str) -> None:
    """Searches the likeliest conversations; a number says how many."""
    first, _, rest = argument.partition(" ")
    if first.isdigit() and len(first) < 7:
        if not int(first):
            raise UsageError("A deep search reads one conversation or more.", "Type /deep 25, or /deep alone.")
        controller.front.open_screen("search", terms=rest.strip(), rung="deep", conversations=int(first))
    else:
        controller.front.open_screen("search", terms=argument, rung="deep")


async def exhaustive(controller: Controller, argument: str) -> None:
    """Searches everything."""
    controller.front.open_screen("search", terms=argument, rung="exhaustive")


async def open_ref(controller: Controller, argument: str) -> None:
    """Opens a reference."""
    if not argument:
        raise UsageError("No reference is given.", "'deepdelve search' prints one below each record; /search opens records too.")
    controller.front.open_screen("ref", ref=argument)
