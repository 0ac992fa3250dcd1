"""Pages that are no content, and short or odd pages that are."""

import pytest

from deepdelve.utils.grounding.stubs import detect, visible
from tests.support.patience import in_proportion

TEXT = "The Kalda Dam on the upper river was completed in 1987 after nine years of work and holds more than a cubic kilometre of water. "


def page(body: str, title: str = "", head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


LOGIN = (
    '<form><label>E-mail</label><input type="text" name="email"><label>Password</label><input type="password" '
    'name="pw"><button>Log in</button></form>'
)
SCRIPTS = "<script src='a.js'></script>" * 8

STUBS = [
    ("cloud wall", page("<h1>Checking your browser before accessing site.example</h1><p>Please enable cookies.</p>", "Just a moment...")),
    (
        "attention",
        page("<h1>One more step</h1><p>Please complete the security check to access site.example</p>", "Attention Required! | Guard"),
    ),
    ("denied", page("<h1>Access denied</h1><p>You do not have permission.</p>", "Access Denied")),
    ("robot", page("<p>Are you a robot? Verify you are human to continue.</p>", "Check")),
    ("captcha", page("<p>Please enter the characters you see below. captcha</p><input name='c'>", "Shop")),
    ("ddos", page("<p>DDoS protection. Type the captcha.</p>", "DDOS GATEWAY")),
    ("unusual traffic", page("<p>Our systems have detected unusual traffic from your network.</p>", "Sorry")),
    ("chinese wall", page("<p>请完成验证后继续访问</p>", "安全验证")),
    ("garbled wall", page("<p>Checking your browser.</p>" + "+((!+[]+(!![])+!![]))" * 200, "Just a moment...")),
    ("log-in", page(LOGIN, "Sign in - Example")),
    ("log-in without title", page(LOGIN, "")),
    ("log-in in German", page(LOGIN.replace("Log in", "Anmelden"), "Anmeldung")),
    ("log-in in Japanese", page(LOGIN.replace("Log in", "ログイン"), "ログイン")),
    ("log-in in Chinese", page(LOGIN.replace("Log in", "登录"), "用户登录")),
    ("registration", page("<h1>Create an account</h1>" + LOGIN + "<p>Name Address City</p>", "Create New Customer Account")),
    (
        "password reset",
        page('<p>Forgot your password?</p><input type="email" name="email"><button>Reset password</button>', "Password Reset"),
    ),
    ("consent", page("<h1>Before you continue</h1><p>We use cookies. Accept all cookies or manage settings.</p>", "Example")),
    ("privacy choice", page("<p>We value your privacy. Accept cookies to go on.</p>", "News")),
    ("soft 404", page("<h1>404</h1><p>The page you requested could not be found.</p>", "Page not found")),
    ("soft 404 in German", page("<h1>Seite nicht gefunden</h1>", "Fehler")),
    ("gone", page("<p>This page is no longer available.</p>", "Example")),
    ("chinese 404", page("<p>页面不存在</p>", "提示")),
    ("script shell", page('<div id="root"></div>' + SCRIPTS, "App")),
    (
        "script shell with notice",
        page("<noscript>You need to enable JavaScript to run this app.</noscript><div id='app'></div><script src='a.js'></script>", "App"),
    ),
    ("script shell with menu", page("<p>Home About Contact</p>" + SCRIPTS, "Photos and videos")),
    ("forwarding", page("<p>Moved</p>", "", "<meta http-equiv='refresh' content='0;url=/x'>")),
    ("empty", page(" " * 500, "")),
    ("paywall", page("<p>Subscribe to continue reading. Already a subscriber? Go on.</p>", "News")),
    ("blocked", page("<p>Sorry, you have been blocked. Ray ID: 123</p>", "Guard")),
    ("verification", page("<h2>Performing security verification</h2><p>This website uses a service against bots.</p>", "Just a moment...")),
]
CONTENT = [
    ("short", page("<p>Success</p>")),
    ("one line", page("<h1>The requested page</h1><p>This is the requested page.</p>")),
    ("short article", page(f"<h1>The dam</h1><p>{TEXT * 3}</p>", "The dam")),
    (
        "article on captchas",
        page(
            f"<h1>How captchas work</h1><p>{'A captcha asks users to verify you are human; ' * 6}</p><p>{TEXT * 8}</p>", "How captchas work"
        ),
    ),
    ("article with log-in form", page(LOGIN + f"<p>{TEXT * 12}</p>", "The dam")),
    ("article with cookie banner", page(f"<div>We value your privacy. Accept all cookies.</div><p>{TEXT * 12}</p>", "The dam")),
    (
        "article on 404 pages",
        page(f"<p>{'Why pages answer 404 Not Found and what to do about it. ' * 5}</p><p>{TEXT * 8}</p>", "The history of 404"),
    ),
    (
        "article on passwords",
        page(f"<p>{'Users who forgot their password choose weak ones. ' * 5}</p><p>{TEXT * 8}</p>", "Password habits"),
    ),
    ("article with noscript", page(f"<noscript>Enable JavaScript for comments.</noscript><p>{TEXT * 10}</p>{SCRIPTS}", "The dam")),
    ("chinese", page("<p>" + "格伦冰川位于北纬六十度，长约二十三公里。研究人员认为夏季气温上升是主要原因。" * 6 + "</p>", "冰川")),
    (
        "short chinese",
        page("<p>格伦冰川位于北纬六十度，长约二十三公里。研究人员认为夏季气温上升是主要原因。当地政府没有批准旅游公路的建设。</p>", "冰川"),
    ),
    ("japanese", page("<p>" + "ダムは九年の工事を経て完成した。高さは百四十二メートルである。" * 5 + "</p>", "ダム")),
    ("korean", page("<p>" + "댐은 구 년의 공사 끝에 완공되었다. 높이는 백사십이 미터이다. " * 5 + "</p>", "댐")),
    ("arabic", page("<p>" + "اكتمل بناء السد بعد تسع سنوات من العمل ويبلغ ارتفاعه مئة متر. " * 5 + "</p>", "السد")),
    ("hebrew", page("<p>" + "הסכר הושלם לאחר תשע שנות עבודה וגובהו מאה ארבעים ושניים מטר. " * 5 + "</p>", "הסכר")),
    (
        "table",
        page("<table>" + "".join(f"<tr><td>Year {n}</td><td>{n * 3} GWh</td></tr>" for n in range(1980, 2020)) + "</table>", "Output"),
    ),
    ("definition", page("<dl><dt>Sturgeon</dt><dd>A large fish of rivers and seas, valued for its roe.</dd></dl>", "Sturgeon")),
    ("press note", page(f"<h1>Press note</h1><p>{TEXT}</p><p>Contact: press@site.example</p>", "Press note")),
    ("code", page("<pre>" + "def f(x):\n    return x + 1\n" * 20 + "</pre>", "Example")),
    ("poem", page("<p>" + "<br>".join(["The river runs", "below the wall", "and nobody counts", "the fish at all"]) + "</p>", "Poem")),
    ("forum thread", page("<a>Login</a><a>Register</a>" + f"<p>{TEXT * 4}</p>" + f"<p>{TEXT * 4}</p>", "Dam thread")),
    (
        "recipe",
        page(
            "<h1>Soup</h1><ul><li>2 onions</li><li>1 litre of water</li></ul><p>Boil the onions in the water for half "
            "an hour, then salt.</p>",
            "Soup",
        ),
    ),
]
TEXTS = [
    (
        "rfc",
        "Status of this memo\n\nThe 404 (Not Found) status code indicates that the origin server did not find a current representation. "
        * 30,
    ),
    ("plain article", TEXT * 4),
    ("long page", TEXT * 200),
    ("short pdf page", "[page 1]\n" + TEXT * 2),
    ("csv", "year,output\n" + "\n".join(f"{year},{year * 2}" for year in range(1980, 2020))),
    ("abstract", "Abstract. " + TEXT * 2 + "Access denied errors were counted as failures of the log-in form."),
]


@pytest.mark.parametrize("html", [case[1] for case in STUBS], ids=[case[0] for case in STUBS])
def test_stub(html: str) -> None:
    assert detect("", html=html).state != "ok"


@pytest.mark.parametrize("html", [case[1] for case in CONTENT], ids=[case[0] for case in CONTENT])
def test_content(html: str) -> None:
    assert detect("", html=html).state == "ok"


@pytest.mark.parametrize("text", [case[1] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_text_content(text: str) -> None:
    assert detect(text).state == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n  \n",
        "Checking your browser - reCAPTCHA\n\nChecking your browser before accessing pmc.example ...\n\nClick "
        "here if you are not redirected.",
        "Just a moment...\n\nPerforming security verification\n\nThis website uses a security service.",
        "Log in\nSign in with your account\nForgot password?\nRegister",
        "404\nPage not found",
        "You need to enable JavaScript to run this app.",
    ],
)
def test_text_stub(text: str) -> None:
    assert detect(text).state != "ok"


@pytest.mark.parametrize(
    ("status", "state"),
    [(404, "unreachable"), (410, "unreachable"), (500, "unreachable"), (403, "blocked"), (401, "blocked"), (429, "blocked"), (200, "ok")],
)
def test_the_status_decides_before_the_words(status: int, state: str) -> None:
    verdict = detect(TEXT * 20, status=status)
    assert verdict.state == state
    assert (verdict.reason != "") == (state != "ok")


def test_a_passage_may_be_short() -> None:
    assert detect("India", snippet=True).state == "ok"
    assert detect("", snippet=True).state != "ok"


def test_visible_text_has_no_scripts_and_no_attributes() -> None:
    html = page("<script>var x = 'hidden';</script><style>p {}</style><p title='no'>shown</p><img src='data:" + "A" * 9000 + "'>")
    assert visible(html) == "shown"


@pytest.mark.parametrize("html", ["<" * 100_000, "<div " * 40_000, "<!--" * 30_000, "<script>" * 20_000, "<input " * 20_000, "&" * 100_000])
def test_hostile_markup_is_read_in_linear_time(html: str) -> None:
    in_proportion(lambda text: detect("", html=text), html)
