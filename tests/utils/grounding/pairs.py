"""Bad claims and their right twins, written for these tests, and the dialects to cite them in."""

from dataclasses import dataclass

SOURCES: dict[str, str] = {
    "https://river.example/dam": (
        "Kalda Dam\n\nThe Kalda Dam on the Upper Veltra river was completed in 1987 after nine years of work. It "
        "is 142 metres high and holds 1.6 cubic kilometres of"
        " water. The power station has an installed capacity of 620 MW and delivered 2,140 GWh in 2022, some 11 "
        "per cent less than a year earlier because of drought."
        " The project cost $1.2 billion, of which the Veltra Development Bank lent $450 million. About 8,300 "
        "people were resettled. The operator, Norvelt Energy, does"
        " not plan to raise the wall. Fish ladders were never installed, and sturgeon no longer reach the upper "
        "valley. Engineers inspect the grouting curtain every"
        " spring; the last inspection found no significant leakage."
    ),
    "https://health.example/trial": (
        "A randomised trial of morvastin in adults with mild hypertension\n\nBetween March 2018 and June 2020, "
        "1,248 adults at 14 hospitals in Denmark and Sweden were"
        " assigned to morvastin or placebo. After twelve months systolic pressure fell by 9.4 mmHg in the "
        "morvastin group and by 3.1 mmHg in the placebo group."
        " Headache was reported by 6.5% of treated patients. Morvastin did not reduce the rate of stroke. The "
        "trial was funded by the Lindqvist Foundation and led by"
        ' Dr Anna Bergdahl of Uppsala. Dr Bergdahl said that "the effect on blood pressure was clear, but it is '
        'far too early to speak of fewer strokes". Patients with'
        " kidney disease were excluded. The authors recommend a larger study before the drug is approved."
    ),
    "https://city.example/tram": (
        "Tram line 7 opens\n\nOn 4 May 2021 the city of Tarnow Park opened tram line 7, which links the central "
        "station with the university campus. The line is 12.8"
        " kilometres long and has 23 stops. Mayor Elena Duarte cut the ribbon together with transport minister "
        "Pavel Hrubin. Construction took 41 months and cost 310"
        " million euros, 18 million euros less than budgeted. Before the opening, buses carried 14,000 passengers "
        "a day on the same route; in its first year the tram"
        " carried 26,500. Noise along the avenue decreased, according to the environment office. The council "
        "rejected a plan to extend the line to the airport."
    ),
    "https://law.example/act": (
        "Data Portability Act explained\n\nUnder Article 17 of the Data Portability Act, providers must answer a "
        "request within 30 days. Regulation (EU) 2031/455 repeals"
        " Directive 2012/88/EC. Article 22(3) allows a fine of up to EUR 20 million or 4 % of annual turnover. "
        "Small firms with fewer than 50 employees are exempt from"
        " Article 19. The Act entered into force on 1 January 2032. It prohibits the sale of location data "
        "without consent. The conformity standard is ISO 27701:2019."
        " The supervisory authority received 3,912 complaints in 2033, and upheld 1,204 of them."
    ),
    "https://market.example/firms": (
        "Hartwell and Corvane\n\nIn 2016 Hartwell Group acquired Corvane Logistics for £2.3 billion. Hartwell, "
        "which is based in Leeds, employs 18,400 people. Revenue rose"
        " from £4.1 billion in 2019 to £5.6 billion in 2023. The operating margin was higher in Europe than in "
        "Asia. In October 2023 the company appointed Maria Lindholm"
        " as chief executive; she succeeded Tom Ashby. The firm did not pay a dividend in 2020. Its market share "
        "in parcel delivery is estimated at EUR 1.6–3.3 billion,"
        " not EUR 30 billion as some newspapers wrote. Three of its five warehouses are powered by solar energy."
    ),
    "https://space.example/probe": (
        "The Halcyon probe\n\nHalcyon was launched from Kourou on 19 August 2014 aboard an Ariane 5. The "
        "spacecraft weighs 2,310 kilograms and carries eleven instruments."
        " It reached the asteroid Themora in November 2019 after a journey of 640 million kilometres. Its camera "
        "mapped 94 percent of the surface. The probe found more"
        " carbon than silicon in the regolith. Contact was lost for six days in 2020, but the main antenna was "
        "not damaged. The mission is managed by the European Orbit"
        ' Agency, with a contribution from Japan. The team leader, Karim Haddad, called the landing "the longest '
        'eleven minutes of my working life".'
    ),
    "https://climate.example/glacier": (
        "格伦冰川研究\n\n格伦冰川位于北纬六十度，长约 23 公里。"
        "2005 年至 2020 年间，冰川后退了 1.9 公里，体积减少了 31%。研究人员认为夏季气温上升是主要原因。当地政府没有批准旅游公路的建设。"
        "2021 年，研究站由李明教授领导，共有 18 名研究人员。"
    ),
    "https://bildung.example/schule": (
        "Ganztagsschulen in Lowenau\n\nIm Schuljahr 2021 besuchten 46 Prozent der Kinder in Lowenau eine "
        "Ganztagsschule, zehn Jahre zuvor waren es 22 Prozent. Das Land"
        " investierte 85 Millionen Euro in neue Räume. Die Stadt Brenning lehnte eine Beteiligung ab. Nach "
        "Angaben des Ministeriums fehlen 1.300 Lehrkräfte. Die Kosten"
        " für das Mittagessen trägt nicht das Land, sondern die Gemeinde."
    ),
}


@dataclass(frozen=True)
class Pair:
    """A sentence that its source carries, and a twin that it does not."""

    kind: str
    url: str
    right: str
    bad: str


DAM, TRIAL, TRAM, ACT, FIRMS, PROBE, GLACIER, SCHOOL = SOURCES

PAIRS: tuple[Pair, ...] = (
    Pair("figure", DAM, "The Kalda Dam is 142 metres high.", "The Kalda Dam is 124 metres high."),
    Pair("figure", DAM, "Its power station has an installed capacity of 620 MW.", "Its power station has an installed capacity of 260 MW."),
    Pair(
        "figure",
        TRIAL,
        "Headache was reported by 6.5 per cent of the treated patients.",
        "Headache was reported by 16.5 per cent of the treated patients.",
    ),
    Pair(
        "figure",
        TRIAL,
        "Systolic pressure fell by 9.4 mmHg in the morvastin group.",
        "Systolic pressure fell by 4.9 mmHg in the morvastin group.",
    ),
    Pair(
        "figure",
        TRAM,
        "The tram carried 26,500 passengers a day in its first year.",
        "The tram carried 62,500 passengers a day in its first year.",
    ),
    Pair("figure", TRAM, "The line is 12.8 kilometres long and has 23 stops.", "The line is 12.8 kilometres long and has 32 stops."),
    Pair(
        "figure",
        ACT,
        "The supervisory authority received 3,912 complaints in 2033.",
        "The supervisory authority received 9,312 complaints in 2033.",
    ),
    Pair("figure", PROBE, "The camera of Halcyon mapped 94% of the surface.", "The camera of Halcyon mapped 49% of the surface."),
    Pair("swapped figure", TRIAL, "Pressure fell by 3.1 mmHg in the placebo group.", "Pressure fell by 31 mmHg in the placebo group."),
    Pair("scale", DAM, "The project cost $1.2 billion.", "The project cost $1.2 million."),
    Pair(
        "scale", DAM, "The Veltra Development Bank lent 450 million US dollars.", "The Veltra Development Bank lent 450 billion US dollars."
    ),
    Pair(
        "scale",
        FIRMS,
        "Hartwell Group acquired Corvane Logistics for £2,300 million.",
        "Hartwell Group acquired Corvane Logistics for £2,300 billion.",
    ),
    Pair("scale", TRAM, "Construction cost €310m.", "Construction cost €310bn."),
    Pair(
        "scale",
        FIRMS,
        "Market share in parcel delivery is estimated at EUR 1.6–3.3 billion.",
        "Market share in parcel delivery is estimated at EUR 1.6–3.3 million.",
    ),
    Pair("negation", TRIAL, "Morvastin did not reduce the rate of stroke.", "Morvastin reduced the rate of stroke."),
    Pair("negation", DAM, "The operator does not plan to raise the wall.", "The operator plans to raise the wall."),
    Pair("negation", DAM, "Fish ladders were never installed.", "Fish ladders were installed."),
    Pair("negation", TRIAL, "Patients with kidney disease were excluded.", "Patients with kidney disease were not excluded."),
    Pair("negation", FIRMS, "The firm did not pay a dividend in 2020.", "The firm paid a dividend in 2020."),
    Pair("negation", PROBE, "The main antenna was not damaged.", "The main antenna was damaged."),
    Pair(
        "negation",
        TRAM,
        "The council rejected a plan to extend the line to the airport.",
        "The council did not reject a plan to extend the line to the airport.",
    ),
    Pair("direction", TRAM, "Noise along the avenue decreased.", "Noise along the avenue increased."),
    Pair(
        "direction",
        FIRMS,
        "The operating margin was higher in Europe than in Asia.",
        "The operating margin was lower in Europe than in Asia.",
    ),
    Pair(
        "direction",
        PROBE,
        "The probe found more carbon than silicon in the regolith.",
        "The probe found less carbon than silicon in the regolith.",
    ),
    Pair(
        "direction",
        TRAM,
        "The council rejected a plan to extend the line to the airport.",
        "The council approved a plan to extend the line to the airport.",
    ),
    Pair(
        "direction",
        ACT,
        "The Act prohibits the sale of location data without consent.",
        "The Act allows the sale of location data without consent.",
    ),
    Pair(
        "direction",
        FIRMS,
        "Revenue rose from £4.1 billion in 2019 to £5.6 billion in 2023.",
        "Revenue fell from £4.1 billion in 2019 to £5.6 billion in 2023.",
    ),
    Pair("entity", TRIAL, "The trial was funded by the Lindqvist Foundation.", "The trial was funded by the Wellmark Foundation."),
    Pair(
        "entity",
        TRAM,
        "Mayor Elena Duarte cut the ribbon with transport minister Pavel Hrubin.",
        "Mayor Elena Duarte cut the ribbon with transport minister Viktor Sokol.",
    ),
    Pair(
        "entity",
        FIRMS,
        "Hartwell, which employs 18,400 people, is based in Leeds.",
        "Hartwell, which employs 18,400 people, is based in Bristol.",
    ),
    Pair("entity", PROBE, "Halcyon was launched from Kourou aboard an Ariane 5.", "Halcyon was launched from Baikonur aboard an Ariane 5."),
    Pair(
        "entity",
        PROBE,
        "The mission is managed by the European Orbit Agency with a contribution from Japan.",
        "The mission is managed by the European Orbit Agency with a contribution from Brazil.",
    ),
    Pair("entity", DAM, "The Kalda Dam stands on the Upper Veltra river.", "The Kalda Dam stands on the Upper Danube river."),
    Pair("date", DAM, "The Kalda Dam was completed in 1987.", "The Kalda Dam was completed in 1978."),
    Pair("date", TRAM, "Tram line 7 opened on 4 May 2021.", "Tram line 7 opened on 4 May 2012."),
    Pair("date", PROBE, "It reached the asteroid Themora in November 2019.", "It reached the asteroid Themora in November 2009."),
    Pair("date", PROBE, "Halcyon was launched on 19 August 2014.", "Halcyon was launched on 19 October 2014."),
    Pair("date", ACT, "The Act entered into force on 1 January 2032.", "The Act entered into force on 1 January 2023."),
    Pair(
        "date",
        FIRMS,
        "In October 2023 the company appointed Maria Lindholm as chief executive.",
        "In October 2013 the company appointed Maria Lindholm as chief executive.",
    ),
    Pair("regulation", ACT, "Article 22(3) allows a fine of up to EUR 20 million.", "Article 32(3) allows a fine of up to EUR 20 million."),
    Pair(
        "regulation",
        ACT,
        "Regulation (EU) 2031/455 repeals Directive 2012/88/EC.",
        "Regulation (EU) 2031/455 repeals Directive 2021/88/EC.",
    ),
    Pair("regulation", ACT, "The conformity standard is ISO 27701:2019.", "The conformity standard is ISO 27001:2019."),
    Pair(
        "quote",
        TRIAL,
        ("Bergdahl said that “the effect on blood pressure was clear, but it is far too early to speak of fewer strokes”."),
        ("Bergdahl said that “the effect on blood pressure was weak, and it is far too early to speak of fewer strokes”."),
    ),
    Pair(
        "quote",
        PROBE,
        "Haddad called the landing “the longest eleven minutes of my working life”.",
        "Haddad called the landing “the longest twelve minutes of my entire life”.",
    ),
    Pair(
        "invented",
        DAM,
        "About 8,300 people were resettled.",
        "The dam won the Aurelius Prize for landscape architecture and attracts many visitors.",
    ),
    Pair(
        "invented",
        TRIAL,
        "The authors recommend a larger study before the drug is approved.",
        "Morvastin has since been licensed in Canada and is sold as a nasal spray.",
    ),
    Pair("chinese figure", GLACIER, "2005 年至 2020 年间，格伦冰川体积减少了 31%。", "2005 年至 2020 年间，格伦冰川体积减少了 13%。"),
    Pair("chinese date", GLACIER, "2021 年，研究站由李明教授领导。", "2012 年，研究站由李明教授领导。"),
    Pair(
        "german figure",
        SCHOOL,
        "Im Schuljahr 2021 besuchten 46 % der Kinder in Lowenau eine Ganztagsschule.",
        "Im Schuljahr 2021 besuchten 64 % der Kinder in Lowenau eine Ganztagsschule.",
    ),
    Pair("german scale", SCHOOL, "Das Land investierte 85 Mio. Euro in neue Räume.", "Das Land investierte 85 Mrd. Euro in neue Räume."),
)


def dialects(sentence: str, url: str) -> dict[str, str]:
    """The sentence as a report of every dialect; the cited source is the second of two where there is a list."""
    stem, stop = (sentence[:-1], sentence[-1]) if sentence[-1] in ".。" else (sentence, "")
    other = "https://other.example/page"
    lead = "# Findings\n\n"
    return {
        "bracket": f"{lead}{stem} [2]{stop}\n\n## Sources\n\n[1] Other page: {other}\n[2] The page: {url}\n",
        "bracket after stop": f"{lead}{sentence}[2]\n\n## References\n\n1. Other page. {other}\n2. The page. {url}\n",
        "bracket list": f"{lead}{stem} [1, 2]{stop}\n\nSources:\n[1] {other} - Other page\n[2] {url} - The page\n",
        "range": f"{lead}{stem} [1-2]{stop}\n\n参考文献\n\n[1] {other}\n[2] {url}\n",
        "numbered link": f"{lead}{stem} [[2]]({url}){stop}\n",
        "inline link": f"{lead}{stem} ([The page]({url})){stop}\n",
        "lenticular": f"{lead}{stem}【2†L10-L12】{stop}\n\n## Quellen\n\n[1] {other}\n[2] {url}\n",
        "footnote": f"{lead}{stem}[^b]{stop}\n\n[^a]: Other page {other}\n[^b]: The page {url}\n",
        "bare address": f"{lead}{sentence} {url}\n",
        "superscript": f"{lead}{sentence}<sup>2</sup>\n\n**References**\n\n1. {other}\n2. {url}\n",
        "author year": (
            f"{lead}{stem} (Halvard et al., 2021){stop}\n\n## References\n\n- Other, P. (2019). Other page. {other}\n- "
            f"Halvard, J., & Moe, K. (2021). The page. {url}\n"
        ),
        "next line": f"{lead}{sentence}\n[2]\n\n## Sources\n\n[1] {other}\n[2] {url}\n",
        "source line": f"{lead}{sentence}\n\nSource: {url}\n",
        "table, link below": f"{lead}| Topic | Finding |\n|---|---|\n| Main | {sentence} |\n\nSource: [The page]({url})\n",
        "list without heading": f"{lead}- {stem} [2]{stop}\n\n[1] Other page {other}\n\n[2] The page {url}\n",
    }
