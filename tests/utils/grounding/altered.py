"""Sentences that one small word makes false, in nine languages, each with the true one; written for these tests."""

SOURCES: dict[str, str] = {
    "en": (
        "The Orrin Wetland Survey\n\nSome of the ponds in the Orrin wetland dried out in 2018. Most farmers support the "
        "buffer strips, but a few oppose them. The survey found that nitrate levels were associated with lower frog "
        "numbers; it did not show that nitrate causes the decline. According to the authors, the new sluice may reduce "
        "flooding. Of 64 ponds, 17 had no frogs. The heron population doubled between 2009 and 2019, from 120 to 240 "
        "pairs. At least 30 species of dragonfly were recorded. Dr Lena Brook designed the sluice and Prof Omar Vance "
        "tested it. The fen lies north of the village of Dunmore and covers 41 hectares. Before the sluice was built, "
        "water stood at 1.2 metres; afterwards it stood at 0.8 metres. The trust buys land from the council. Ten of the "
        "twelve wardens are volunteers. The first survey took place in March 2009, the second in June 2019. The pump "
        "uses 45 kW and moves 300 litres per second. If the grant is renewed, the trust will restore the eastern bank. "
        "Neither otters nor mink were seen. The budget was cut from 2.5 million euros to 900,000 euros. Only the "
        "northern basin is open to visitors. The report was published by the Orrin Trust, not by the county. The "
        "temperature rose by 2 degrees Celsius."
    ),
    "de": (
        "Der Lindauer Hafen\n\nDer Hafen von Lindau wurde 1856 eröffnet. Einige Händler lehnen den Ausbau ab. Die Stadt "
        "verkaufte das Lagerhaus an die Firma Brandt. Das Becken ist 4,5 Meter tief und fasst 120 Boote. Die Miete "
        "stieg von 300 auf 420 Euro. Der Ausbau könnte den Verkehr verringern. Kein Boot wurde beschädigt. Mindestens "
        "15 Betriebe sind betroffen. Die Bürgermeisterin Clara Henn lehnte den Antrag ab."
    ),
    "fr": (
        "Le pont de Marvielle\n\nLe pont de Marvielle a été construit entre 1932 et 1936. Certains habitants s'opposent à "
        "sa démolition. Il mesure 312 mètres et a coûté 14 millions de francs. Aucun ouvrier n'est mort pendant les "
        "travaux. Le trafic a diminué de 18 % en 2020. La commune a vendu le terrain à la société Delmas. L'architecte "
        "Paul Serrat a dessiné les piles. Le péage pourrait être supprimé."
    ),
    "es": (
        "El faro de Punta Brava\n\nEl faro de Punta Brava fue inaugurado en 1911. Algunos pescadores rechazan la nueva "
        "luz. Tiene 46 metros de altura y costó 2,3 millones de pesetas. La empresa Marsol compró el faro al municipio. "
        "El consumo bajó un 25 % en 2019. Nadie resultó herido en el incendio. La luz podría confundir a las aves."
    ),
    "ru": (
        "Музей в Каменске\n\nМузей в Каменске открылся в 1974 году. Некоторые жители выступают против переезда. В "
        "собрании 12 400 предметов. Число посетителей выросло на 15 процентов в 2019 году. Город не продал здание. "
        "Директор Анна Белова руководит музеем с 2010 года. Ремонт стоил 85 миллионов рублей."
    ),
    "zh": (
        "海湾大桥\n\n"
        "海湾大桥于2008年5月1日通车，全长36公里。部分居民反对收费。大桥造价为118亿元。2019年车流量增长了15%。工程没有造成人员死亡。总工程师王伟负责设计。新的限速可能会减少事故。至少12座码头受到影响。"
    ),
    "ja": (
        "青葉水族館\n\n"
        "青葉水族館は1994年に開館した。一部の住民は移転に反対している。水槽の容量は3,200トンである。2019年の入館者数は12%減少した。火災による負傷者はいなかった。館長の佐藤健が設計を担当した。建設費は45億円だった"
        "。新しい照明は魚に影響を与える可能性がある。"
    ),
    "ko": (
        "한빛 도서관\n\n한빛 도서관은 1998년에 문을 열었다. 일부 주민은 이전에 반대한다. 장서는 32만 권이다. 2019년 이용자는 15% 증가했다. 화재로 다친 사람은 없었다. 건축비는 85억 "
        "원이었다. 관장 김민수가 설계를 맡았다."
    ),
    "ar": (
        "مكتبة النور\n\nافتتحت مكتبة النور في عام 1985. يعارض بعض السكان نقل المكتبة. تضم المكتبة 42000 كتاب. ارتفع عدد "
        "الزوار بنسبة 15٪ في عام 2019. لم تبع المدينة المبنى. بلغت كلفة الترميم 12 مليون درهم."
    ),
}

# Language, what is altered, the true sentence, the false one.
PAIRS: tuple[tuple[str, str, str, str], ...] = (
    (
        "en",
        "how many",
        "Some of the ponds in the Orrin wetland dried out in 2018.",
        "All of the ponds in the Orrin wetland dried out in 2018.",
    ),
    ("en", "how many", "Most farmers support the buffer strips.", "All farmers support the buffer strips."),
    ("en", "how many", "A few farmers oppose the buffer strips.", "Most farmers oppose the buffer strips."),
    ("en", "how many", "Ten of the twelve wardens are volunteers.", "All twelve wardens are volunteers."),
    ("en", "how many", "Only the northern basin is open to visitors.", "Every basin is open to visitors."),
    ("en", "how many", "At least 30 species of dragonfly were recorded.", "At most 30 species of dragonfly were recorded."),
    ("en", "how many", "At least 30 species of dragonfly were recorded.", "Fewer than 30 species of dragonfly were recorded."),
    ("en", "how many", "Neither otters nor mink were seen.", "Both otters and mink were seen."),
    ("en", "how many", "Of 64 ponds, 17 had no frogs.", "Of 64 ponds, 17 had frogs."),
    ("en", "how many", "Of 64 ponds, 17 had no frogs.", "Of 17 ponds, 64 had no frogs."),
    ("en", "cause", "Nitrate levels were associated with lower frog numbers.", "Nitrate levels caused lower frog numbers."),
    ("en", "cause", "The survey did not show that nitrate causes the decline.", "The survey showed that nitrate causes the decline."),
    ("en", "certainty", "The new sluice may reduce flooding.", "The new sluice reduces flooding."),
    ("en", "certainty", "According to the authors, the new sluice may reduce flooding.", "The new sluice will certainly reduce flooding."),
    ("en", "certainty", "If the grant is renewed, the trust will restore the eastern bank.", "The trust will restore the eastern bank."),
    ("en", "certainty", "If the grant is renewed, the trust will restore the eastern bank.", "The trust has restored the eastern bank."),
    ("en", "comparison", "The heron population doubled between 2009 and 2019.", "The heron population tripled between 2009 and 2019."),
    ("en", "comparison", "The heron population doubled between 2009 and 2019.", "The heron population halved between 2009 and 2019."),
    ("en", "exchanged parts", "The heron population rose from 120 to 240 pairs.", "The heron population fell from 240 to 120 pairs."),
    (
        "en",
        "exchanged parts",
        "Dr Lena Brook designed the sluice and Prof Omar Vance tested it.",
        "Prof Omar Vance designed the sluice and Dr Lena Brook tested it.",
    ),
    ("en", "exchanged parts", "The trust buys land from the council.", "The council buys land from the trust."),
    (
        "en",
        "exchanged parts",
        "Before the sluice was built, water stood at 1.2 metres; afterwards it stood at 0.8 metres.",
        "Before the sluice was built, water stood at 0.8 metres; afterwards it stood at 1.2 metres.",
    ),
    (
        "en",
        "exchanged parts",
        "The first survey took place in March 2009, the second in June 2019.",
        "The first survey took place in June 2019, the second in March 2009.",
    ),
    (
        "en",
        "exchanged parts",
        "The budget was cut from 2.5 million euros to 900,000 euros.",
        "The budget was raised from 900,000 euros to 2.5 million euros.",
    ),
    ("en", "unit", "The pump uses 45 kW and moves 300 litres per second.", "The pump uses 45 MW and moves 300 litres per second."),
    ("en", "unit", "The pump moves 300 litres per second.", "The pump moves 300 litres per minute."),
    ("en", "unit", "The fen covers 41 hectares.", "The fen covers 41 square kilometres."),
    ("en", "unit", "The temperature rose by 2 degrees Celsius.", "The temperature rose by 2 degrees Fahrenheit."),
    ("en", "unit", "The budget was cut to 900,000 euros.", "The budget was cut to 900,000 dollars."),
    ("en", "name", "The fen lies north of the village of Dunmore.", "The fen lies south of the village of Dunmore."),
    ("en", "name", "The report was published by the Orrin Trust.", "The report was published by the county."),
    ("en", "date", "The first survey took place in March 2009.", "The first survey took place in May 2009."),
    (
        "en",
        "before and after",
        "Before the sluice was built, water stood at 1.2 metres.",
        "After the sluice was built, water stood at 1.2 metres.",
    ),
    ("de", "how many", "Einige Händler lehnen den Ausbau ab.", "Alle Händler lehnen den Ausbau ab."),
    ("de", "negation", "Kein Boot wurde beschädigt.", "Ein Boot wurde beschädigt."),
    ("de", "certainty", "Der Ausbau könnte den Verkehr verringern.", "Der Ausbau verringert den Verkehr."),
    (
        "de",
        "exchanged parts",
        "Die Stadt verkaufte das Lagerhaus an die Firma Brandt.",
        "Die Firma Brandt verkaufte das Lagerhaus an die Stadt.",
    ),
    ("de", "direction", "Die Miete stieg von 300 auf 420 Euro.", "Die Miete sank von 420 auf 300 Euro."),
    ("de", "unit", "Das Becken ist 4,5 Meter tief.", "Das Becken ist 45 Meter tief."),
    ("de", "how many", "Mindestens 15 Betriebe sind betroffen.", "Höchstens 15 Betriebe sind betroffen."),
    ("de", "date", "Der Hafen von Lindau wurde 1856 eröffnet.", "Der Hafen von Lindau wurde 1865 eröffnet."),
    ("de", "name", "Die Stadt verkaufte das Lagerhaus an die Firma Brandt.", "Die Stadt verkaufte das Lagerhaus an die Firma Keller."),
    ("fr", "how many", "Certains habitants s'opposent à sa démolition.", "Tous les habitants s'opposent à sa démolition."),
    ("fr", "negation", "Aucun ouvrier n'est mort pendant les travaux.", "Un ouvrier est mort pendant les travaux."),
    ("fr", "direction", "Le trafic a diminué de 18 % en 2020.", "Le trafic a augmenté de 18 % en 2020."),
    ("fr", "figure", "Le pont mesure 312 mètres.", "Le pont mesure 321 mètres."),
    ("fr", "scale", "Il a coûté 14 millions de francs.", "Il a coûté 14 milliards de francs."),
    ("fr", "certainty", "Le péage pourrait être supprimé.", "Le péage a été supprimé."),
    ("fr", "name", "L'architecte Paul Serrat a dessiné les piles.", "L'architecte Jean Morel a dessiné les piles."),
    ("fr", "date", "Le pont de Marvielle a été construit entre 1932 et 1936.", "Le pont de Marvielle a été construit entre 1922 et 1926."),
    ("es", "how many", "Algunos pescadores rechazan la nueva luz.", "Todos los pescadores rechazan la nueva luz."),
    ("es", "negation", "Nadie resultó herido en el incendio.", "Varias personas resultaron heridas en el incendio."),
    ("es", "direction", "El consumo bajó un 25 % en 2019.", "El consumo subió un 25 % en 2019."),
    ("es", "scale", "El faro costó 2,3 millones de pesetas.", "El faro costó 23 millones de pesetas."),
    ("es", "name", "La empresa Marsol compró el faro al municipio.", "La empresa Costanera compró el faro al municipio."),
    ("es", "date", "El faro de Punta Brava fue inaugurado en 1911.", "El faro de Punta Brava fue inaugurado en 1991."),
    ("es", "certainty", "La luz podría confundir a las aves.", "La luz confunde a las aves."),
    ("ru", "figure", "В собрании 12 400 предметов.", "В собрании 14 200 предметов."),
    ("ru", "negation", "Город не продал здание.", "Город продал здание."),
    (
        "ru",
        "direction",
        "Число посетителей выросло на 15 процентов в 2019 году.",
        "Число посетителей сократилось на 15 процентов в 2019 году.",
    ),
    ("ru", "scale", "Ремонт стоил 85 миллионов рублей.", "Ремонт стоил 85 миллиардов рублей."),
    ("ru", "date", "Музей в Каменске открылся в 1974 году.", "Музей в Каменске открылся в 1947 году."),
    ("ru", "how many", "Некоторые жители выступают против переезда.", "Все жители выступают против переезда."),
    ("ru", "name", "Директор Анна Белова руководит музеем с 2010 года.", "Директор Мария Чернова руководит музеем с 2010 года."),
    ("zh", "scale", "大桥造价为118亿元。", "大桥造价为118万元。"),
    ("zh", "direction", "2019年车流量增长了15%。", "2019年车流量下降了15%。"),
    ("zh", "negation", "工程没有造成人员死亡。", "工程造成人员死亡。"),
    ("zh", "date", "海湾大桥于2008年5月1日通车。", "海湾大桥于2008年7月1日通车。"),
    ("zh", "how many", "部分居民反对收费。", "所有居民反对收费。"),
    ("zh", "certainty", "新的限速可能会减少事故。", "新的限速减少了事故。"),
    ("zh", "how many", "至少12座码头受到影响。", "最多12座码头受到影响。"),
    ("ja", "figure", "水槽の容量は3,200トンである。", "水槽の容量は2,300トンである。"),
    ("ja", "direction", "2019年の入館者数は12%減少した。", "2019年の入館者数は12%増加した。"),
    ("ja", "negation", "火災による負傷者はいなかった。", "火災による負傷者がいた。"),
    ("ja", "scale", "建設費は45億円だった。", "建設費は45万円だった。"),
    ("ja", "how many", "一部の住民は移転に反対している。", "すべての住民は移転に反対している。"),
    ("ja", "date", "青葉水族館は1994年に開館した。", "青葉水族館は1949年に開館した。"),
    ("ja", "certainty", "新しい照明は魚に影響を与える可能性がある。", "新しい照明は魚に影響を与える。"),
    ("ko", "figure", "장서는 32만 권이다.", "장서는 23만 권이다."),
    ("ko", "direction", "2019년 이용자는 15% 증가했다.", "2019년 이용자는 15% 감소했다."),
    ("ko", "negation", "화재로 다친 사람은 없었다.", "화재로 다친 사람이 있었다."),
    ("ko", "scale", "건축비는 85억 원이었다.", "건축비는 85만 원이었다."),
    ("ko", "how many", "일부 주민은 이전에 반대한다.", "모든 주민은 이전에 반대한다."),
    ("ko", "date", "한빛 도서관은 1998년에 문을 열었다.", "한빛 도서관은 1989년에 문을 열었다."),
    ("ar", "figure", "تضم المكتبة 42000 كتاب.", "تضم المكتبة 24000 كتاب."),
    ("ar", "direction", "ارتفع عدد الزوار بنسبة 15٪ في عام 2019.", "انخفض عدد الزوار بنسبة 15٪ في عام 2019."),
    ("ar", "scale", "بلغت كلفة الترميم 12 مليون درهم.", "بلغت كلفة الترميم 12 مليار درهم."),
    ("ar", "how many", "يعارض بعض السكان نقل المكتبة.", "يعارض جميع السكان نقل المكتبة."),
    ("ar", "date", "افتتحت مكتبة النور في عام 1985.", "افتتحت مكتبة النور في عام 1958."),
)
