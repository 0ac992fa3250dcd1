"""The rename test: different named subjects are different tasks, the same ones in other words are one."""

import pytest

from deepdelve.core.records import PlanItem
from deepdelve.engine.subjects import same_task, subject_words, subjects


def one(first: str, second: str, names: tuple[str, str] = ("", "")) -> bool:
    items = [PlanItem(name=name or text, instructions=text) for name, text in zip(names, (first, second), strict=True)]
    forth, back = same_task(items[0], items[1]), same_task(items[1], items[0])
    assert forth == back
    return forth


class TestSubjects:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("market 2030", {"2030"}),
            ("Category 5", {"category 5"}),
            ("Area 51", {"area 51"}),
            ("category 5 storms", {"category 5"}),
            ("sector 1", set[str]()),
            ("Task 3", set[str]()),
            ("top 10 cities", set[str]()),
            ("last 5 years", set[str]()),
            ("Find the rent in Helsinki", {"helsinki"}),
            ("Find it. Search again.", set[str]()),
            ("ヘルシンキの家賃", {"ヘルシンキ"}),
        ],
    )
    def test_named_subjects(self, text: str, found: set[str]) -> None:
        assert subjects(text) == found

    def test_what_any_task_may_say_is_no_subject_word(self) -> None:
        assert subject_words("Find recent reliable data and official sources on this topic") == frozenset()
        assert subject_words("research sector 1") == frozenset()
        assert "rent" in subject_words("Find the rents")


class TestTwoTasks:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            # Two cities from one template.
            (
                "Find the typical monthly rent of a one-bedroom apartment in Helsinki, for instance in Kallio",
                "Find the typical monthly rent of a one-bedroom apartment in Tallinn, for instance in Kalamaja",
            ),
            ("average rent of a flat in helsinki", "average rent of a flat in tallinn"),
            ("rent in helsinki", "rent in tallinn"),
            ("market 2030", "market 2035"),
            ("damage by Category 5 storms", "damage by Category 4 storms"),
            ("history of Area 51", "history of Area 52"),
            ("effects of caffeine on sleep", "effects of alcohol on sleep"),
            ("Crime rates in Helsinki", "Unemployment rates in Helsinki"),
            ("Impact of the AI Act on startups", "Impact of the AI Act on hospitals"),
            ("赫尔辛基的平均租金是多少", "塔林的平均租金是多少"),
            ("ヘルシンキの家賃", "タリンの家賃"),
            ("Средняя аренда квартиры в Хельсинки", "Средняя аренда квартиры в Таллине"),
            ("متوسط الإيجار في هلسنكي", "متوسط الإيجار في تالين"),
            ("Durchschnittliche Miete in Wien", "Durchschnittliche Miete in Graz"),
            ("Revenue of Acme in Germany", "Revenue of Globex in Germany"),
            ("GDP of Norway in 2020", "GDP of Norway in 2024"),
        ],
    )
    def test_other_subjects(self, first: str, second: str) -> None:
        assert not one(first, second)

    def test_three_facets_of_one_template_are_three_tasks(self) -> None:
        template = "Find the current share of wind power in the electricity mix of {}, with the year"
        texts = [template.format(country) for country in ("Denmark", "Portugal", "Ireland")]
        assert not any(one(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :])


class TestOneTask:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (
                "Find the typical monthly rent for a one-bedroom apartment",
                "Search for recent data on the average monthly rent of a one-bedroom apartment",
            ),
            ("Find the rent of flats in Helsinki.", "Search for recent rental prices of apartments in Helsinki."),
            ("rent in Helsinki", "rent in helsinki"),
            (
                "Find the founding year and current headquarters of Acme, with sources",
                "Search for when Acme was founded and where its headquarters are today",
            ),
            ("research sector 1", "research sector 2"),
            ("Miete in Wien", "Durchschnittliche Miete in Wien"),
            ("Средняя аренда квартиры в Хельсинки", "Найти среднюю аренду квартиры в Хельсинки"),
            ("赫尔辛基的平均租金是多少", "赫尔辛基平均租金"),
            ("GDP of Norway in 2024", "Find the GDP of Norway for 2024 from official statistics"),
        ],
    )
    def test_other_words(self, first: str, second: str) -> None:
        assert one(first, second)

    def test_another_name_over_the_same_instructions(self) -> None:
        text = "Find the rent of flats in Helsinki"
        assert one(text, text, ("Helsinki rents", "Retry: Housing Costs"))

    def test_a_task_is_itself(self) -> None:
        assert one("x", "x")
