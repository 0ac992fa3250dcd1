"""Pages that are no content: bot walls, captchas, log-ins, registration, consent, soft 404s, JavaScript shells, empty pages.

What a page says of itself counts only where little else is said: articles that mention captchas, RFCs that speak of "404 Not Found", short
true pages and pages in scripts without spaces are content.
"""

import re
from dataclasses import dataclass

from deepdelve.core.records import SourceState

_EMPTY = 25
_SHORT = 1600
_LONG = 8000
_PARAGRAPH = 180
_HIDDEN = re.compile(r"<(script|style|template|svg|head|select)\b[^>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S)
_NOSCRIPT = re.compile(r"<noscript\b[^>]*>(.*?)(?:</noscript\s*>|\Z)", re.I | re.S)
_TITLE = re.compile(r"<title\b[^>]*>([^<]{0,400})", re.I)
_TAG = re.compile(r"<[^<>]*>")
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|li|td|tr|h[1-6]|br|section|article|table|form|label|option|ul|ol|dd|dt|title|button|a)\b[^<>]*>", re.I
)
_WORD = re.compile(r"\w+")
_ENTITY = re.compile(r"&(?:#?\w{1,10});")
_PASSWORD = re.compile(r"<input\b[^>]{0,600}\btype\s*=\s*[\"']?password", re.I)
_INPUT = re.compile(r"<input\b(?![^>]{0,600}\btype\s*=\s*[\"']?(?:hidden|submit|search|button|image))", re.I)
_IDENTITY = re.compile(
    r"<input\b[^>]{0,600}\b(?:name|id|placeholder|type|autocomplete)\s*=\s*[\"']?[^\"'>]{0,40}(?:user|login"
    r"|e-?mail|passw|\bpin|member|account)",
    re.I,
)
_SCRIPT = re.compile(r"<script\b", re.I)
_ROOT = re.compile(r"<div\b[^>]{0,200}\bid\s*=\s*[\"']?(?:root|app|__next|main-app|react-root|svelte|__nuxt)\b", re.I)
_REFRESH = re.compile(r"<meta\b[^>]{0,200}http-equiv\s*=\s*[\"']?refresh", re.I)

_WALL = re.compile(
    r"just a moment|attention required|checking (?:if the site connection is secure|your browser)"
    r"|performing security verification|verif(?:y|ying) (?:that )?you are (?:a |not a )?(?:human|robot|bot)"
    r"|are you (?:a )?(?:human|robot)|not a (?:ro)?bot|ddos[- ](?:protection|gateway|guard)|anti-?ddos"
    r"|access (?:to this page has been )?denied|you have been blocked|sorry, you have been blocked"
    r"|unusual traffic|automated (?:access|queries|requests)|enable javascript and cookies to continue"
    r"|pardon our interruption|request unsuccessful|incapsula|security check|browser check|one more step"
    r"|(?:complete|solve|enter|type) the (?:captcha|characters|security check)|captcha|please wait while (?:we"
    r"|your request)|ray id|安全验证|人机验证|访问验证|请完成验证|アクセスが拒否|проверка браузера|zugriff verweigert|accès refusé",
    re.I,
)
_WALL_TITLE = re.compile(
    r"^\W*(?:just a moment|attention required|access denied|please wait|ddos|security check|robot check"
    r"|human verification|are you a human|403|forbidden|blocked|pardon our interruption|checking your browser"
    r"|captcha)",
    re.I,
)
_ACCOUNT = re.compile(
    r"\blog[ -]?in\b|\bsign[ -]?in\b|\blogon\b|\bsign[ -]?up\b|\bregist(?:er|ration)\b|\bcreate (?:an |your "
    r"|new |a )*(?:customer )?account\b|\b(?:reset|forgot(?:ten)?|recover|lost|retrieve"
    r"|remind)\b.{0,20}\bpassword\b|\bpassword (?:reset|recovery|reminder|help|assistance)\b"
    r"|\baccount recovery\b|\bjoin (?:now|us)\b|\bmember login\b|\banmeld(?:en|ung)\b|\beinloggen\b"
    r"|\bregistrier(?:en|ung)\b|\bpasswort\b|\bconnexion\b|\binscription\b|\bmot de passe\b|\binici(?:ar"
    r"|e) sesi[óo]n\b|\bregistr(?:o|arse|ati|azione)\b|\bcontraseña\b|\baccedi\b|\bentrar\b|\bcadastr"
    r"|登录|登入|注册|註冊|忘记密码|找回密码|ログイン|会員登録|パスワード|로그인|회원가입|비밀번호|\bвход\b|войти|регистрация|пароль|giriş|şifre"
    r"|zaloguj|rejestracja|hasło|logga in|inloggen|wachtwoord|slaptažod|prisijung|registracij|تسجيل الدخول"
    r"|התחבר",
    re.I,
)
_ACCOUNT_URL = re.compile(
    r"/(?:log-?in|sign-?in|sign-?up|register|registration|account/(?:login|create|recover\w*|reset)|password"
    r"|users/(?:sign_in|new|password)|forgot\w*|lost-?password|auth|sso|join)(?:[/?._-]|$)|[?&](?:login"
    r"|register)=",
    re.I,
)
_GONE = re.compile(
    r"\b404\b|page (?:can(?:not|'t) be|was not|could not be|not) found|not found|page (?:you (?:requested"
    r"|are looking for|were looking for) )?(?:does not|doesn[’']t|no longer) exist|no longer available"
    r"|seite (?:wurde )?nicht gefunden|page introuvable|página no encontrada"
    r"|страница не найдена|页面不存在|找不到(?:页面|网页)|ページが見つかりません",
    re.I,
)
_CONSENT = re.compile(
    r"before you continue|we value your privacy|accept (?:all )?cookies|manage (?:your )?(?:cookie"
    r"|privacy) (?:settings|preferences)|consent to (?:the use of )?cookies|cookie consent|einwilligung"
    r"|ich stimme zu|tout accepter|aceptar todas",
    re.I,
)
_PAYWALL = re.compile(r"subscribe to (?:continue|read)|subscribers only|to continue reading|already a subscriber", re.I)
_SCRIPT_NEEDED = re.compile(
    r"(?:enable|requires?|turn on|activate|need(?:s)?|without) javascript|javascript (?:is (?:disabled"
    r"|required|not (?:enabled|available))|must be|to run)|loading\W{0,4}$|unsupported browser"
    r"|browser is not supported|update your browser",
    re.I,
)


@dataclass(frozen=True)
class StubVerdict:
    """``state`` is ok for content; ``reason`` says in a few words why not."""

    state: SourceState
    reason: str = ""


@dataclass(frozen=True)
class _Page:
    text: str
    markup: str
    title: str
    url: str
    size: int
    longest: int

    @property
    def head(self) -> str:
        return f"{self.title}\n{self.text[:300]}"


def detect(text: str, *, html: str = "", status: int = 200, url: str = "", title: str = "", snippet: bool = False) -> StubVerdict:
    """Whether a fetched page is content.

    Args:
        text: its extracted text; may be empty where ``html`` is given.
        html: the page as received, if it was HTML.
        status: the HTTP status.
        url: its final address.
        title: its title, if known.
        snippet: the text is a passage of a page, so that shortness tells nothing.
    """
    if status >= 400:
        return StubVerdict("blocked" if status in (401, 402, 403, 407, 429, 451) else "unreachable", f"the server answered {status}")
    if len(text) >= _LONG and not html:
        return StubVerdict("ok")
    page = _page(text, html, url, title)
    if page.size >= _SHORT and page.longest >= _PARAGRAPH:
        return StubVerdict("ok")
    found = _wall(page) or _account(page) or _gone(page) or _consent(page)
    if found is not None:
        return found
    return (None if snippet else _shell(page)) or (StubVerdict("stub", "empty page") if page.size == 0 else StubVerdict("ok"))


def visible(html: str) -> str:
    """The visible text of a page, a line a block. Rough and linear: for signals, not for reading."""
    body = _NOSCRIPT.sub(" ", _HIDDEN.sub(" ", html))
    plain = _ENTITY.sub(" ", _TAG.sub(" ", _BLOCK_TAG.sub("\n", body)))
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    return "\n".join(line for line in lines if line)


def _page(text: str, html: str, url: str, title: str) -> _Page:
    shown = visible(html) if html else ""
    body = text.strip() or shown
    if not title and html and (found := _TITLE.search(html)):
        title = " ".join(found[1].split())
    fullest = shown if html and len(shown) < 20_000 and len(shown) > len(body) else body
    return _Page(fullest, html, title, url, _measure(body), max((_measure(line) for line in fullest.split("\n")), default=0))


def _measure(text: str) -> int:
    """Length of the words in Latin characters: a character of a script without spaces says as much as two and a half."""
    found = _WORD.findall(text)
    length = sum(map(len, found)) + max(0, len(found) - 1)
    wide = 0 if text.isascii() else sum(char > "\u2e7f" for char in text)
    return length + wide * 3 // 2


def _wall(page: _Page) -> StubVerdict | None:
    if _WALL_TITLE.search(page.title) and page.size < _SHORT:
        return StubVerdict("blocked", "bot wall or access refused")
    if page.size < 900 and page.longest < 320 and _WALL.search(page.head):
        return StubVerdict("blocked", "bot wall or captcha")
    return None


def _account(page: _Page) -> StubVerdict | None:
    """A form for a password or an address is the page's whole purpose."""
    if page.size >= _SHORT or page.longest >= 2 * _PARAGRAPH:
        return None
    named = _ACCOUNT.search(page.title) is not None or _ACCOUNT_URL.search(page.url) is not None
    mentions = len(_ACCOUNT.findall(f"{page.title}\n{page.text}"))
    if page.markup:
        password, fields = _PASSWORD.search(page.markup) is not None, len(_INPUT.findall(page.markup))
        asks = password or _IDENTITY.search(page.markup) is not None
        sure = (password and (named or page.longest < _PARAGRAPH)) or (named and (fields >= 1 or page.size < 400))
        if sure or (asks and mentions >= 2 and page.size < 1200 and page.longest < _PARAGRAPH):
            return StubVerdict("stub", "log-in, registration or password page")
        return None
    if page.size < 700 and ((named and mentions) or mentions >= 3) and page.longest < _PARAGRAPH:
        return StubVerdict("stub", "log-in, registration or password page")
    return None


def _gone(page: _Page) -> StubVerdict | None:
    if _GONE.search(page.title) and page.size < _SHORT and page.longest < 2 * _PARAGRAPH:
        return StubVerdict("unreachable", "page not found, though the server says it is there")
    if page.size < 500 and page.longest < _PARAGRAPH and _GONE.search(page.text[:120]):
        return StubVerdict("unreachable", "page not found, though the server says it is there")
    return None


def _consent(page: _Page) -> StubVerdict | None:
    if page.size < 900 and page.longest < 400 and _CONSENT.search(page.head):
        return StubVerdict("stub", "consent wall")
    return StubVerdict("stub", "paywall") if page.size < 500 and _PAYWALL.search(page.text) else None


def _shell(page: _Page) -> StubVerdict | None:
    """Little or no text, and scripts that would draw it."""
    if page.markup:
        scripts = len(_SCRIPT.findall(page.markup))
        notice = " ".join(_NOSCRIPT.findall(page.markup))
        if page.size < 320 and (scripts >= 6 or _SCRIPT_NEEDED.search(notice) or (_ROOT.search(page.markup) and page.size < 120)):
            return StubVerdict("stub", "needs JavaScript")
        if page.size < 200 and _REFRESH.search(page.markup):
            return StubVerdict("stub", "only forwards to another page")
        if page.size < _EMPTY and len(page.markup) > 400:
            return StubVerdict("stub", "empty page")
    elif page.size < _EMPTY:
        return StubVerdict("stub", "empty page")
    if page.size < 320 and page.longest < _PARAGRAPH and _SCRIPT_NEEDED.search(page.text):
        return StubVerdict("stub", "needs JavaScript")
    return None
