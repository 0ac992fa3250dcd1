"""``deepdelve checks``: what a report is checked for, what mends each problem, and what the settings switch off."""

import argparse
from typing import Any

from deepdelve.cli.output import print_json, print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of ``checks``."""
    parser.add_argument("--json", action="store_true", help="the checks as one JSON list")
    parser.add_argument("--config", metavar="FILE", help="a settings file instead of your own")


def main(args: argparse.Namespace) -> int:
    """Print the checks in their order of priority; for a person also the remedies and passes that can be switched off."""
    from deepdelve.cli.conduct import settings_for
    from deepdelve.engine import facade

    found = facade.checks(settings_for(args, {}))
    if args.json:
        print_json(found["checks"])
        return 0
    blocks = [_checks(found["checks"]), _remedies(found["remedies"]), _passes(found["passes"]), _HOW]
    print_text("\n\n".join(blocks))
    return 0


_HOW = (
    "To leave one out, put under settings.ablation in the settings file: "
    "disable_check_NAME: true, disable_remedy_NAME: true or disable_pass_NAME: true"
)


def _checks(rows: list[dict[str, Any]]) -> str:
    width = max(len(row["problem"]) for row in rows)
    lines = ["checks, in order; * keeps a report from being verified"]
    for row in rows:
        mark = "*" if row["blocks"] else " "
        lines.append(f"{mark} {row['problem']:<{width}}  {row['tier']:<10}  {row['remedy']}{_off(row)}")
    return "\n".join(lines)


def _remedies(rows: list[dict[str, Any]]) -> str:
    return "remedies: " + ", ".join(f"{row['remedy']}{_off(row)}" for row in rows)


def _passes(rows: list[dict[str, Any]]) -> str:
    width = max(len(row["pass"]) for row in rows)
    return "\n".join(["passes", *(f"  {row['pass']:<{width}}  {row['what']}{_off(row)}" for row in rows)])


def _off(row: dict[str, Any]) -> str:
    return "" if row["enabled"] else "  [off]"
