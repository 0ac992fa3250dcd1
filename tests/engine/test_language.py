"""The language of a question: by script, then by small words; where nothing tells, nothing is claimed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.engine.language import language_of


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How long are the rivers Alder and Birch?", "English"),
        ("Wie funktioniert die Photosynthese?", "German"),
        ("Quelle est la capitale de la France ?", "French"),
        ("¿Cuál es la capital de España?", "Spanish"),
        ("Qual é a capital do Brasil?", "Portuguese"),
        ("Qual è la capitale della Svizzera?", "Italian"),
        ("Wat is de hoofdstad van Nederland?", "Dutch"),
        ("Jakie są rzeki w Polsce?", "Polish"),
        ("Vad är huvudstaden i Sverige?", "Swedish"),
        ("Hva er hovedstaden i Norge?", "Norwegian"),
        ("Hvad er hovedstaden i Danmark?", "Danish"),
        ("Mikä on Suomen pääkaupunki?", "Finnish"),
        ("Türkiye ve Yunanistan arasında ne var?", "Turkish"),
        ("Apa ibu kota dari Indonesia?", "Indonesian"),
        ("日本の首都はどこですか", "Japanese"),
        ("中国的首都是哪里", "Chinese"),
        ("한국의 수도는 어디입니까", "Korean"),
        ("ما هي عاصمة مصر؟", "Arabic"),
        ("پایتخت ایران کجاست؟ چرا", "Persian"),
        ("Столица России какая?", "Russian"),
        ("Яка столиця України?", "Ukrainian"),
        ("Ποια είναι η πρωτεύουσα;", "Greek"),
    ],
)
def test_a_question_is_known_by_its_script_or_its_small_words(question, language):
    assert language_of(question) == language


@pytest.mark.parametrize(
    "question",
    [
        "",
        "2019 2020 2021",
        "Python asyncio internals",
        "GDP per capita Norway 2023",
        "El Salvador bitcoin law",
        "Las Vegas, Los Angeles",
        "Der Spiegel",
    ],
)
def test_names_and_titles_alone_tell_nothing(question):
    assert language_of(question) == ""


@pytest.mark.parametrize(
    "question",
    [
        "What is the GDP per capita of El Salvador and Costa Rica?",
        "Who wrote the novel 吾輩は猫である about a cat, and when was it published in Tokyo?",
        "Which of Las Vegas and Los Angeles has the larger population?",
    ],
)
def test_foreign_names_within_an_english_question_leave_it_english(question):
    assert language_of(question) == "English"


@given(st.text(max_size=200))
def test_any_text_gives_a_name_or_nothing(text):
    name = language_of(text)
    assert not name or name[0].isupper()
