"""Word lists: stop words, irregular forms, negators, opposites, scales, currencies and units. ``_`` stands for a space."""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in text.split())


def _pairs(text: str) -> dict[str, str]:
    return {key.replace("_", " "): value for key, _, value in (item.partition("=") for item in text.split())}


def _numbers(text: str) -> dict[str, float]:
    return {key: float(value) for key, value in _pairs(text).items()}


def _both(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, _, other in (item.partition("=") for item in text.split()))


def _factors(text: str) -> dict[str, tuple[str, float]]:
    return {unit: (base, float(factor)) for unit, right in _pairs(text).items() for base, _, factor in (right.partition("*"),)}


STOPWORDS = _words(
    """
    a about above after again all also although am among an and another any are as at be because been before being between both but
    by can could did do does doing down during each either etc even ever every few for from further had has have having he her here
    hers herself him himself his how however i if in into is it its itself just many may me might more most much must my no nor not
    now of off on once one only onto or other our ours out over own per same she should since so some still such than that the their
    theirs them then there these they this those through thus to too under until up upon us very via was we were what when where
    whether which while who whom whose why will with within without would yet you your yours s t re ve ll th st nd rd de la le les
    des du un une et en el los las der die das und den dem von zu mit il lo di da che os o e um uma и в на с по не что
    """
)
MONTHS = _words(
    """
    january february march april june july august september sept october november december
    """
)
IRREGULAR = _pairs(
    """
    paid=pay rose=rise risen=rise fell=fall fallen=fall grew=grow grown=grow led=lead built=build held=hold made=make said=say
    won=win lost=lose sold=sell bought=buy sent=send spent=spend found=find began=begin begun=begin became=become came=come went=go
    gone=go gave=give given=give took=take taken=take wrote=write written=write knew=know known=know shown=show drew=draw drawn=draw
    drove=drive driven=drive ran=run saw=see seen=see met=meet kept=keep meant=mean brought=bring thought=think taught=teach
    caught=catch fought=fight chose=choose chosen=choose spoke=speak spoken=speak broke=break broken=break fed=feed felt=feel
    stood=stand understood=understand told=tell flew=fly flown=fly threw=throw thrown=throw wore=wear worn=wear sank=sink sunk=sink
    sought=seek dealt=deal slept=sleep children=child women=woman men=man people=person feet=foot lives=life better=good best=good
    """
)
NEGATORS = _words(
    """
    not no never none neither nor without cannot can't couldn't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't
    hasn't haven't hadn't shouldn't unable nicht kein keine keinen nie pas jamais aucun aucune sin nunca jamás ningún ninguna non
    mai 不 没 沒 无 未 非 не нет никогда لا ليس لم לא אין
    """
)
NOT_NEGATING = _words(
    """
    not_only not_just no_longer not_least no_doubt not_merely no_matter not_necessarily without_doubt
    """
)
WEAK_NEGATIVES = _words(
    """
    few little hardly barely rarely seldom scarcely low lack lacks lacked lacking absence absent unlikely limited against false
    incorrect wrong longer different fail failed fails deny denies denied refuse refused refuses reject rejected prevent prevented
    stop stopped
    """
)
OPPOSITES = _both(
    """
    increase=decrease increase=decline increase=reduce increase=fall increase=drop rise=fall rise=decline rise=drop rose=fell
    rose=declined rose=dropped grow=shrink grew=shrank grew=fell grew=declined gain=loss gained=lost higher=lower highest=lowest
    more=less more=fewer most=least larger=smaller largest=smallest bigger=smaller longer=shorter longest=shortest faster=slower
    fastest=slowest stronger=weaker better=worse best=worst before=after above=below exceed=below first=last earlier=later
    older=younger oldest=youngest north=south northern=southern east=west eastern=western maximum=minimum import=export
    imported=exported accept=reject accepted=rejected approve=reject approved=rejected allow=prohibit allowed=prohibited allow=ban
    allowed=banned legal=illegal support=oppose supported=opposed won=lost success=failure succeed=fail succeeded=failed
    positive=negative safe=unsafe possible=impossible always=never all=none open=closed opened=closed start=end started=ended
    began=ended improve=worsen improved=worsened strengthen=weaken strengthened=weakened upper=lower majority=minority
    mandatory=optional mandatory=voluntary required=optional guilty=innocent buy=sell bought=sold acquire=sell acquired=sold
    expand=contract expanded=contracted accelerate=slow accelerated=slowed harmful=beneficial effective=ineffective stable=unstable
    include=exclude included=excluded public=private internal=external absent=present double=halve doubled=halved maternal=paternal
    winter=summer morning=evening double=triple doubled=tripled double=quadruple doubled=quadrupled halve=triple halved=tripled
    north=south stieg=sank stiegen=sanken gestiegen=gesunken steigt=sinkt steigen=sinken wuchs=schrumpfte zunahm=abnahm
    zugenommen=abgenommen erhöhte=senkte erhöht=gesenkt höher=niedriger mindestens=höchstens nördlich=südlich östlich=westlich
    größer=kleiner mehr=weniger augmenté=diminué augmente=diminue augmenté=baissé hausse=baisse augmentation=diminution
    supérieur=inférieur nord=sud subió=bajó subió=cayó aumentó=disminuyó aumentó=bajó aumentó=redujo creció=cayó mayor=menor
    norte=sur aumento=descenso выросло=сократилось выросло=снизилось вырос=снизился выросла=снизилась увеличилось=уменьшилось
    увеличился=уменьшился выше=ниже больше=меньше 增长=下降 增加=减少 增长=减少 上升=下降 增加=下降 提高=降低 高于=低于
    多于=少于 至少=最多 至少=至多 以上=以下 増加=減少 上昇=低下 上昇=下落 증가=감소 상승=하락 이상=이하 ارتفع=انخفض
    زاد=انخفض ازداد=انخفض أكثر=أقل أعلى=أدنى
    """
)
ALL_WORDS = _words(
    """
    all every each everyone everybody alle allen aller alles jeder jede jedes sämtliche tous toutes toute chaque todos todas cada все всех
    каждый каждая каждое جميع كل
    """
)
MOST_WORDS = _words("most majority meisten mehrheit plupart majorité mayoría большинство معظم")
SOME_WORDS = _words(
    """
    some few several only certain einige einigen manche manchen wenige mehrere nur certains certaines quelques plusieurs seuls algunos
    algunas varios varias pocos некоторые некоторых несколько немногие بعض
    """
)
# A verb behind one of these is no fact; a claim with any of the hedges has kept the doubt in some form.
MODALS = _words("may might could könnte könnten pourrait pourraient podría podrían может могут мог могла قد ربما")
HEDGES = MODALS | _words(
    """
    can possible possibly potential potentially perhaps probably likely maybe would should suggest suggests suggested expected expect
    expects believed thought seem seems appear appears appeared risk whether if estimated estimate projected predicted hope hopes aim aims
    kann können möglich möglicherweise vielleicht vermutlich wahrscheinlich würde würden soll sollen peut peuvent possible peut-être
    probablement serait devrait risque puede pueden posible quizá quizás tal_vez probablemente возможно вероятно يمكن محتمل
    """
)
CONDITIONS = _words("if unless provided falls sofern wenn si sauf если إذا لو")
CAUSE_WORDS = _words(
    """
    cause causes caused causing leads_to led_to results_in resulted_in because verursacht verursachen verursachte provoque provoquent causa
    causan вызывает вызывают
    """
)
RELATION_WORDS = _words(
    """
    associated association associations correlated correlates correlation correlations linked link korreliert verbunden zusammenhang associé
    associée associés lié liée corrélation asociado asociada correlación связан связана связано
    """
)
AGENT_WORDS = _words("by durch von par por was were been being is are wurde wurden été fue fueron sido était")
JOINED_ALL = ("所有", "全部", "全体", "全員", "すべて", "全て", "모든", "전체", "전부")
JOINED_SOME = ("部分", "一些", "有些", "少数", "若干", "一部", "いくつか", "일부", "몇몇")
JOINED_HEDGES = ("可能", "或许", "也许", "也許", "かもしれ", "恐れがある", "おそれがある", "수 있", "수도 있", "가능성")
JOINED_NEGATIONS = ("没有", "沒有", "未", "不", "ない", "なかっ", "ません", "않", "없", "못")
# Words that hold such a sign and negate nothing.
JOINED_NO_NEGATION = ("不仅", "不僅", "不断", "不斷", "不同", "不过", "不過", "不足", "不久", "未来", "未來", "未満", "不動", "只不")
SCALES = _numbers(
    """
    hundred=100 thousand=1000 k=1000 million=1e+06 millions=1e+06 mn=1e+06 m=1e+06 mio=1e+06 mln=1e+06 millionen=1e+06
    millones=1e+06 billion=1e+09 billions=1e+09 bn=1e+09 b=1e+09 mrd=1e+09 milliarden=1e+09 milliards=1e+09 trillion=1e+12
    trillions=1e+12 tn=1e+12 t=1e+12 bio=1e+12 billionen=1e+12 lakh=100000 crore=1e+07 dozen=12 tausend=1000 mille=1000 mil=1000
    만=10000 억=1e+08 조=1e+12 тысяч=1000 тысячи=1000 тыс=1000 миллион=1e+06 миллиона=1e+06 миллионов=1e+06 млн=1e+06
    миллиард=1e+09 миллиарда=1e+09 миллиардов=1e+09 млрд=1e+09 ألف=1000 مليون=1e+06 ملايين=1e+06 مليار=1e+09 مليارات=1e+09
    千=1000 万=10000 萬=10000 百万=1e+06 千万=1e+07 亿=1e+08 億=1e+08 万亿=1e+12 兆=1e+12
    """
)
MONEY = _pairs(
    """
    $=usd us$=usd usd=usd dollar=usd dollars=usd €=eur eur=eur euro=eur euros=eur £=gbp gbp=gbp pound=gbp pounds=gbp ¥=cny cny=cny
    rmb=cny yuan=cny 元=cny jpy=jpy yen=jpy 円=jpy ₹=inr inr=inr rupees=inr chf=chf 美元=usd 欧元=eur
    """
)
UNITS = _pairs(
    """
    %=percent ％=percent percent=percent per_cent=percent prozent=percent pct=percent percentage_points=points
    percentage_point=points km=km kilometres=km kilometers=km kilometre=km kilometer=km miles=mile mile=mile metres=metre
    meters=metre metre=metre meter=metre cm=cm mm=mm feet=foot foot=foot ft=foot kg=kg kilograms=kg tonnes=tonne tons=tonne
    tonne=tonne ton=tonne grams=gram mg=mg gw=gw mw=mw kw=kw gwh=gwh mwh=mwh kwh=kwh twh=twh gigawatts=gw megawatts=mw °c=celsius
    ℃=celsius °f=fahrenheit years=year year=year months=month month=month weeks=week week=week days=day day=day hours=hour hour=hour
    hectares=hectare hectare=hectare ha=hectare acres=acre acre=acre square_kilometres=km2 square_kilometers=km2
    square_kilometre=km2 km²=km2 square_metres=m2 square_meters=m2 m²=m2 square_miles=mile2
    litres=litre liters=litre litre=litre liter=litre
    kilowatt=kw kilowatts=kw megawatt=mw gigawatt=gw terawatt=tw terawatts=tw tw=tw kilowatt_hour=kwh kilowatt_hours=kwh
    megawatt_hour=mwh megawatt_hours=mwh gigawatt_hour=gwh gigawatt_hours=gwh terawatt_hour=twh terawatt_hours=twh kilowatthours=kwh
    megabytes=mb gigabytes=gb terabytes=tb milligrams=mg centimetres=cm centimeters=cm millimetres=mm millimeters=mm
    月=calendar_month 월=calendar_month
    minutes=minute minute=minute seconds=second second=second ms=ms gb=gb mb=mb tb=tb hz=hz ghz=ghz mhz=mhz
    """
)
SPELLED = _numbers(
    """
    one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 fifteen=15
    sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90
    """
)
# Unit to base unit and factor.
CONVERSIONS = _factors(
    """
    tw=w*1e+12 gw=w*1e+09 mw=w*1e+06 kw=w*1000 twh=wh*1e+12 gwh=wh*1e+09 mwh=wh*1e+06 kwh=wh*1000 km=metre*1000 cm=metre*0.01 mm=metre*0.001
    kg=gram*1000 tonne=gram*1e+06 mg=gram*0.001 tb=byte*1e+12 gb=byte*1e+09 mb=byte*1e+06 ghz=hz*1e+09 mhz=hz*1e+06
    """
)
