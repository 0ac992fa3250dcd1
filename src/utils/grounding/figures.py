"""Quantities in text: value, unit and scale, so that ``$1.2bn`` equals ``1,200 million US dollars`` and 45 % is not 54 %."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deepdelve.utils.grounding.tokens import stem
from deepdelve.utils.grounding.vocabulary import CONVERSIONS, MONEY, SCALES, SPELLED, UNITS

# The first digit stands before the alternatives, so that a search passes over everything else fast.
_NUMBER = (
    r"\d(?:\d{0,2}(?:[,’'\u00a0\u202f ]\d{3}(?!\d)){1,6}(?:\.\d{1,9})?|\d{0,2}(?:\.\d{3}){2,6}(?:,\d{1,9})?|\d{0,19}(?:[.,]\d{1,12})?)"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SCALE_WORDS = (
    r"hundred|thousand|millions?|millionen|millones|milliards|milliarden|billions?|billionen|trillions?|lakh|crore|tausend|mrd|mio|mln|bio"
    r"|dozen|bn|mn|tn|тысяч[иа]?|тыс|миллион(?:а|ов)?|млн|миллиард(?:а|ов)?|млрд|ألف|مليون|ملايين|مليار|مليارات|[kmbt]"
)
_WRITTEN = re.compile(
    rf"(?P<number>{_NUMBER})"
    rf"(?P<scale>(?:\s|-|\u00a0)?(?:{_SCALE_WORDS})\b\.?|\s?(?:万亿|百万|千万|[千万萬亿億兆만억조]))?"
    r"(?P<unit>\s?(?:%|％|°c|℃|°f|元|円|美元|欧元|km²|m²|[月월](?=\s?\d))"
    r"|(?:\s|-|\u00a0)square (?:kilomet(?:re|er)s?|met(?:re|er)s|miles)(?![\w])"
    r"|(?:\s|-|\u00a0)(?:kilo|mega|giga|tera)watt[\s-]?hours?(?![\w])"
    r"|(?:\s|-|\u00a0)(?:us\s)?(?:percentage points?|per cent|[a-z€$£]{1,10})(?![\w])"
    r"|(?:km|kg|gw|mw|kw|gwh|mwh|kwh|twh|gb|mb|tb|ms|mm|cm|mg|ghz|mhz)\b)?"
)
_DIGITS = re.compile(r"\d[\d.,]*")
_RANGE = frozenset(("-", "–", "—", "to", "bis", "à", "~", "至", "до"))
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?!\d)")
_NUMBERED = re.compile(r"\b(?:fig|figure|table|chapter|step|phase|part|page|no|version|tier|level|type|grade)s?\.?\s$")
_BOUND = re.compile(
    r"\b(?:(more than|over|above|at least|exceed(?:s|ed|ing)?|upwards of|mehr als|über|plus de|más de)"
    r"|(less than|under|below|fewer than|up to|at most|weniger als|moins de|menos de)|(about|around|roughly"
    r"|approximately|some|nearly|almost|close to|circa|ca\.?|etwa|rund|environ|alrededor de|~|≈))\s{0,2}$"
    r"|([~≈])\s?$"
)
_BEFORE = re.compile(r"(?:us\$|[$€£¥₹]|\b(?:usd|eur|gbp|cny|rmb|jpy|inr|chf))\s?$")
_SPELLING = re.compile(
    rf"\b(?P<spelled>(?:{_TENS})-(?:one|two|three|four|five|six|seven|eight|nine)|"
    rf"{'|'.join(SPELLED)})\b(?P<sscale>\s(?:hundred|dozen|thousand|million|billion"
    rf"|trillion)\b)?(?P<sunit>\s(?:percentage points?|per cent|(?:kilo|mega|giga|tera)watt[\s-]hours?|[a-z]{{1,10}})\b)?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, in base units.

    Attributes:
        step: the size of its last digit; a source may be more exact by half of it.
        factor: its scale (thousand, million, kilo).
        bound: ``>`` after "more than", ``<`` after "less than", ``~`` after "about", else empty.
    """

    value: float
    unit: str
    step: float
    start: int
    end: int
    raw: str
    factor: float = 1.0
    bound: str = ""

    @property
    def is_year(self) -> bool:
        """Whether it reads as a calendar year."""
        return not self.unit and self.step == 1 and 1500 <= self.value <= 2100 and len(self.raw.strip()) == 4

    @property
    def decisive(self) -> bool:
        """Whether its absence from a source tells: small bare counts are paraphrased too often."""
        return self.value not in (0, 1) and (bool(self.unit) or self.factor != 1 or self.value > 12 or self.value != int(self.value))


def find(low: str) -> list[Quantity]:
    """The quantities of a lower-cased text, in digits or in words, in order."""
    found = find_written(low)
    if SPELLED.keys().isdisjoint(low.replace("-", " ").split()):
        return found
    found += [quantity for match in _SPELLING.finditer(low) if (quantity := _spelled(match)) is not None]
    return sorted(found, key=lambda quantity: quantity.start)


def find_written(low: str) -> list[Quantity]:
    """The quantities of a lower-cased text that are written in digits, in order."""
    return _joined([_written(match) for match in _WRITTEN.finditer(low) if not _continues(low, match.start())], low)


def significand(value: float) -> float:
    """A positive number's digits as a number from 1 to 10: 0.45, 45 and 4.5 million are alike."""
    return float(f"{abs(value):e}".partition("e")[0])


def significands(low: str) -> list[tuple[int, float]]:
    """Start and significand of each number in digits, zeros left out."""
    found: list[tuple[int, float]] = []
    for match in _DIGITS.finditer(low):
        digits = match[0].replace(",", "").replace(".", "").strip("0")
        if digits:
            found.append((match.start(), float(f"{digits[0]}.{digits[1:8]}0")))
    return found


def spelled(value: float) -> str:
    """The English word of a small whole number, or an empty string."""
    return _NAMES.get(value, "")


def matches(claimed: Quantity, stated: Quantity) -> bool:
    """Whether a stated quantity carries a claimed one: units do not clash, and values agree to the claim's own precision."""
    if claimed.unit and stated.unit and claimed.unit != stated.unit:
        return False
    gap = abs(claimed.value - stated.value)
    if gap <= 1e-9 * abs(claimed.value) or (gap <= 0.5001 * claimed.step and stated.step < claimed.step):
        return True
    if claimed.bound == "~":
        return gap <= 0.1 * abs(stated.value)
    if claimed.bound == ">":
        return claimed.value < stated.value <= 1.5 * claimed.value
    return claimed.bound == "<" and 0.6 * claimed.value <= stated.value < claimed.value


def missing(claimed: Sequence[Quantity], stated: Sequence[Quantity]) -> list[Quantity]:
    """The claimed quantities that no stated one carries."""
    return [quantity for quantity in claimed if not any(matches(quantity, other) for other in stated)]


def parse_number(text: str) -> tuple[float, float]:
    """Value and size of the last digit of a written number, whichever way it marks thousands and decimals."""
    plain = re.sub(r"[’'\u00a0\u202f ]", "", text)
    if "," in plain and "." in plain:
        plain = plain.replace(".", "").replace(",", ".") if plain.rfind(",") > plain.rfind(".") else plain.replace(",", "")
    elif plain.count(".") > 1 or plain.count(",") > 1 or re.fullmatch(r"\d{1,3},\d{3}", plain):
        plain = plain.replace(".", "").replace(",", "")
    else:
        plain = plain.replace(",", ".")
    decimals = len(plain.partition(".")[2])
    value = float(plain)
    return value, 10.0**-decimals


def _joined(found: list[Quantity], low: str) -> list[Quantity]:
    """Ranges share unit and scale: ``1.6–3.3 billion``, ``€30–33bn``, ``100 to 150 mg``."""
    for place in range(len(found) - 1, 0, -1):
        one, other = found[place - 1], found[place]
        if other.start - one.end > 4 or low[one.end : other.start].strip() not in _RANGE:
            continue
        if one.factor == 1 and other.factor != 1 and (one.unit in ("", other.unit) or not other.unit):
            one = replace(one, value=one.value * other.factor, step=one.step * other.factor, factor=other.factor)
        found[place - 1] = replace(one, unit=one.unit or other.unit)
        found[place] = replace(other, unit=other.unit or one.unit)
    return found


def _continues(low: str, start: int) -> bool:
    """Whether digits are the middle of a word, a version or an address."""
    before = low[start - 1 : start]
    if before == "-" and low[start - 2 : start - 1].isalpha():
        return not _YEAR.match(low, start)
    if _NUMBERED.search(low, max(0, start - 10), start):
        return True
    return (
        (before.isalpha() and before.isascii())
        or before in ("_", "/", "=")
        or (before in (".", ",") and low[start - 2 : start - 1].isdigit())
    )


def _written(match: re.Match[str]) -> Quantity:
    value, step = parse_number(match["number"])
    scale = SCALES.get((match["scale"] or "").strip(" -.\u00a0"), 1.0)
    word = (match["unit"] or "").strip(" -\u00a0").replace("-", " ").removeprefix("us ")
    start, end = match.span()
    before = _BEFORE.search(match.string, max(0, start - 5), start)
    unit = MONEY.get(before[0].strip(), "") if before else ""
    if not unit:
        unit = MONEY.get(word) or UNITS.get(word, "")
    if match["unit"] and word not in MONEY and word not in UNITS:
        end = match.start("unit")
    factor = scale
    if unit in CONVERSIONS:
        unit, multiple = CONVERSIONS[unit]
        factor *= multiple
    start = before.start() if before else start
    return Quantity(value * factor, unit, step * factor, start, end, match.string[start:end], factor, _bound(match.string, start))


def _bound(low: str, start: int) -> str:
    found = _BOUND.search(low, max(0, start - 18), start)
    return "" if found is None else ">" if found[1] else "<" if found[2] else "~"


def _spelled(match: re.Match[str]) -> Quantity | None:
    value = float(sum(SPELLED[part] for part in match["spelled"].split("-")))
    scale = SCALES.get((match["sscale"] or "").strip(), 1.0)
    word = (match["sunit"] or "").strip().replace("-", " ")
    unit = MONEY.get(word) or UNITS.get(word, "")
    if value == 1 and scale == 1 and not unit:
        return None
    end = match.end() if unit else match.end("sscale") if match["sscale"] else match.end("spelled")
    start = match.start()
    unit, multiple = CONVERSIONS.get(unit, (unit, 1.0))
    factor = scale * multiple
    return Quantity(value * factor, unit, factor, start, end, match.string[start:end], factor, _bound(match.string, start))


_NAMES: dict[float, str] = {float(value): name for name, value in SPELLED.items()}
UNIT_KEYS = frozenset(map(stem, [*SCALES, *MONEY, *UNITS]))
