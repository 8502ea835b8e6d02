"""All settings, from the environment, with defaults that are safe on one machine.

docs/operators.md lists the variables. Without any of them: SQLite and an embedded broker under `data/`, bound to
this machine only. `PREFERENDUM_ORIGIN=https://...` turns on everything that needs TLS.
"""

from __future__ import annotations

import os
import re
import sys
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.conf import global_settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import to_locale

from annotate.server import email, logs
from annotate.server.broker_address import read_broker
from annotate.server.keys import load_metrics_token, load_secret_key, with_password
from annotate.server.openid_connect import read_provider, settings_of
from annotate.server.origin import read_origin
from annotate.server.private_files import data_folder, make_private_file
from preferendum.about import FILES
from preferendum.formats.answers import ANSWERS
from preferendum.formats.records import Of, Role

BASE_DIR = Path(__file__).resolve().parent.parent


def flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def security_contact() -> str:
    """The contact for reporting vulnerabilities. Raises `ImproperlyConfigured` for one that RFC 9116 does not allow."""
    contact = os.environ.get("PREFERENDUM_SECURITY_CONTACT", "")
    if contact and not re.fullmatch("(mailto:|https://)[!-~]+", contact):
        raise ImproperlyConfigured("PREFERENDUM_SECURITY_CONTACT begins with mailto: or https://, and has no spaces.")
    return contact


def webhook_networks() -> list[IPv4Network | IPv6Network]:
    """The networks such as 10.1.0.0/16, or addresses. Raises `ImproperlyConfigured` for what is none."""
    given = os.environ.get("PREFERENDUM_WEBHOOK_NETWORKS", "").split(",")
    try:
        return [ip_network(network.strip()) for network in given if network.strip()]
    except ValueError as error:
        raise ImproperlyConfigured(f"PREFERENDUM_WEBHOOK_NETWORKS: {error}.") from error


# Where this installation keeps its data.
TESTING = "pytest" in sys.modules
SERVING = "gunicorn" in sys.modules
DATA_DIR = data_folder("build" if TESTING else "data")
ORIGIN, PREFIX = read_origin()
SECURE = ORIGIN.startswith("https://")

DEBUG = False
SECRET_KEY = load_secret_key(DATA_DIR)
SECRET_KEY_FALLBACKS = [key for key in os.environ.get("PREFERENDUM_OLD_SECRET_KEYS", "").split(",") if key]
# The path below which the site lives, where a host has other sites, too.
FORCE_SCRIPT_NAME = PREFIX or None
_host = urlsplit(ORIGIN).hostname or "127.0.0.1"
ALLOWED_HOSTS = [_host, *(["127.0.0.1", "localhost", "[::1]"] if not SECURE else [])]
ALLOWED_HOSTS += [host for host in os.environ.get("PREFERENDUM_ALLOWED_HOSTS", "").split(",") if host]
CSRF_TRUSTED_ORIGINS = [ORIGIN]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "annotate.apps.StaticFiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "annotate.apps.AnnotateConfig",
    "evaluation",
]

MIDDLEWARE = [
    # Outermost, so that every answer has their headers, even static files, redirects and errors before our code.
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "annotate.server.middleware.security_headers",
    "annotate.server.middleware.probes",
    "annotate.server.prometheus.counted",
    "annotate.server.logs.request_ids",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "annotate.server.languages.middleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "annotate.server.middleware.SecondLook",
]

ROOT_URLCONF = "annotate.urls"
WSGI_APPLICATION = "annotate.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "annotate.server.templates.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


def _database() -> dict[str, Any]:
    """PostgreSQL from DATABASE_URL, or SQLite set up so that nothing is lost and no request meets a locked file."""
    url = os.environ.get("DATABASE_URL", f"sqlite:///{DATA_DIR / 'preferendum.sqlite3'}")
    database: dict[str, Any] = dict(dj_database_url.parse(with_password(url, "DATABASE_PASSWORD_FILE")))
    # Kept open: the last connection to close makes SQLite write its whole log back, 20 ms on every request.
    database["CONN_MAX_AGE"] = 600
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["ENGINE"] = "annotate.database.sqlite"
        if not TESTING:
            make_private_file(Path(database["NAME"]))
        database["OPTIONS"] = {
            # A deferred transaction that reads and then writes fails at once, whatever the timeout.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
                # What a person erased shall not stay in free pages of the file.
                "PRAGMA secure_delete=ON; "
                # Copying the log back into the file takes the disk several times: the worker does it, not a visitor's
                # answer, unless the worker is away for 40 MB.
                f"PRAGMA wal_autocheckpoint={10_000 if SERVING else 1_000};"
            ),
        }
        # A real file, so that tests meet the same locks and logs as an installation does.
        database["TEST"] = {"NAME": str(BASE_DIR / "build" / f"test-{os.getpid()}.sqlite3")}
    else:
        database["ENGINE"] = "annotate.database.postgresql"
        database["CONN_HEALTH_CHECKS"] = True
        # A client that vanishes in a transaction must not hold a topic; the worker, storing a large file, may think for
        # seconds between two of its statements.
        idle = 10 if SERVING else 60
        database["LIMITS"] = {"lock_timeout": "10s", "idle_in_transaction_session_timeout": f"{idle}s"}
        # A vanished server is given up: at once when connecting, after half a minute on an open connection.
        ours = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "tcp_user_timeout": 30_000}
        # Planning the queries of a click costs more than answering them: the server keeps the plans of repeated ones.
        ours |= {"server_side_binding": True, "prepare_threshold": 5}
        database["OPTIONS"] = {**ours, **database.get("OPTIONS", {})}
        database["TEST"] = {"NAME": f"test_preferendum_{os.getpid()}"}  # parts of the tests run in parallel
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The worker's broker: nothing on disk to lose by default, Redis if many machines share the work.
BROKER_URL = read_broker(with_password(os.environ.get("BROKER_URL", "memory://"), "BROKER_PASSWORD_FILE"))
# How many tasks one worker runs at once, in addition to a long one.
WORKER_PROCESSES = int(os.environ.get("PREFERENDUM_WORKER_PROCESSES", "1"))
# Bytes that each of its processes may take, given in megabytes. Topics that would need more are refused.
WORKER_MEMORY = int(os.environ.get("PREFERENDUM_WORKER_MEMORY", "1536")) << 20

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "annotate.server.passwords.PatternValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
SIGN_UP_OPEN = flag("PREFERENDUM_SIGN_UP")

# The way in and the second factor. Limits, and marks of used codes, are ours, in the database: allauth's would be in
# the memory of each process.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
ACCOUNT_ADAPTER = "annotate.views.second_factor.Entrance"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_LOGIN_TIMEOUT = 600  # seconds that a right password waits for the second factor
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_SIGNUP_FIELDS = ["username*"]
MFA_ADAPTER = "annotate.second_factor.SecondFactors"
MFA_FORMS = {
    "authenticate": "annotate.second_factor.SignInForm",
    "reauthenticate": "annotate.second_factor.ConfirmForm",
    "activate_totp": "annotate.second_factor.SetUpForm",
}
MFA_TOTP_TOLERANCE = 1  # steps of half a minute that a clock may be off
MFA_RECOVERY_CODE_DIGITS = 16
MFA_RECOVERY_CODES_SHOW_ONCE = True
# Browsers know passkeys on sites with TLS and on localhost, and never at an address of numbers.
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", *(["webauthn"] if SECURE or _host == "localhost" else [])]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = _host == "localhost"

# The provider whose accounts may sign in here, too; None without one.
OIDC = read_provider()
SOCIALACCOUNT_PROVIDERS = settings_of(OIDC)
SOCIALACCOUNT_ADAPTER = "annotate.views.openid_connect.Arrivals"

SESSION_ENGINE = "annotate.server.sessions"
# A cookie of the whole host would be sent to its other sites; `__Host-` allows no path.
_cookie = ("__Secure-" if PREFIX else "__Host-") if SECURE else ""
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{PREFIX}/"
SESSION_COOKIE_NAME = f"{_cookie}session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = SECURE
CSRF_COOKIE_NAME = f"{_cookie}csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = SECURE
CSRF_FAILURE_VIEW = "annotate.views.errors.csrf_failure"
SECURE_SSL_REDIRECT = SECURE
# What holds for a whole host is for those to say to whom it belongs.
SECURE_HSTS_SECONDS = 31_536_000 if SECURE and not PREFIX else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
SECURE_HSTS_PRELOAD = SECURE
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# The number of proxies before us, and whether their headers are trusted.
PROXIES = int(os.environ.get("PREFERENDUM_PROXIES", "0"))
BEHIND_PROXY = PROXIES > 0
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
# The second path has words of ours for the pages of a library.
LOCALE_PATHS = [BASE_DIR / "annotate" / "locale", BASE_DIR / "annotate" / "words"]
# Annotators' pages are translated. Django knows a hundred languages; a page must not claim one that it is not in.
LANGUAGES = [
    (code, name)
    for code, name in global_settings.LANGUAGES
    if code == LANGUAGE_CODE or (LOCALE_PATHS[0] / to_locale(code)).is_dir()
]
TIME_ZONE = "UTC"

STATIC_URL = f"{PREFIX}/static/"
STATIC_ROOT = Path(os.environ.get("PREFERENDUM_STATIC", DATA_DIR / "static"))
STATICFILES_DIRS = [FILES / "static", ("docs", FILES / "docs" / "images")]
WHITENOISE_ALLOW_ALL_ORIGINS = False  # other sites' pages need none of our files
MEDIA_ROOT = Path(os.environ.get("PREFERENDUM_FILES", DATA_DIR / "files"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_HANDLERS = ["annotate.imports.receiving.LimitedUpload"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
UPLOAD_LIMIT = 50_000_000  # bytes of one upload, before anything reads it; the readers take no more

REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["annotate.api.access.DenyAll"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotate.api.access.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["annotate.api.access.Calls"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotate.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "annotate.api.schema.Schema",
    "DEFAULT_PAGINATION_CLASS": "annotate.api.pages.Pages",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "annotate.api.errors.answer",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Preferendum",
    "DESCRIPTION": "Whatever a person can do in the browser, a program can do here with a token.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"validatorUrl": None},  # the description is sent to no other host
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVERS": [{"url": PREFIX}] if PREFIX else [],
    "PATH_CONVERTER_OVERRIDES": {"id": int},
    "ENUM_NAME_OVERRIDES": {
        "KindEnum": "annotate.models.judging.Annotator.Kind",
        "RemovableEnum": ["topic", "system", "summary", "reference", "human_scores"],
        "RemovalKindEnum": "annotate.models.removal.Removal.Kind",
        "StudyStateEnum": "annotate.models.study.Study.State",
        "RoleEnum": "annotate.models.membership.Membership.Role",
        "SpeakerEnum": list(get_args(Role)),
        "UploadStateEnum": "annotate.models.corpus.Upload.State",
        "ExportStateEnum": "annotate.models.export.Export.State",
        "SkipReasonEnum": "annotate.models.judging.Assignment.SkipReason",
        "ReportReasonEnum": "annotate.models.judging.ReportedPair.Reason",
        "AnswerEnum": "annotate.models.judging.Judgment.ANSWERS",
        "OfEnum": list(get_args(Of)),
        "SelectionOfEnum": ["people", "all"],
        "PreferenceEnum": list(ANSWERS),
    },
}

# How long a drawn pair is kept for its annotator, in seconds.
LEASE_SECONDS = int(os.environ.get("PREFERENDUM_LEASE_SECONDS", "1200"))

# Least seconds between one person's answers; a browser that must wait sends the same one again.
PACE_SECONDS = float(os.environ.get("PREFERENDUM_PACE_SECONDS", "1"))

# How old the newest backup may be before `manage.py doctor` warns; 0 if backups are made in another way.
BACKUP_HOURS = float(os.environ.get("PREFERENDUM_BACKUP_HOURS", "24"))

# Networks inside ours that webhooks may be sent to, also without TLS; by default none.
WEBHOOK_NETWORKS = webhook_networks()

# The contact in /.well-known/security.txt; without it there is no such page.
SECURITY_CONTACT = security_contact()

# The server for e-mails about forgotten passwords; without it there are none.
EMAIL_SERVER = os.environ.get("PREFERENDUM_EMAIL", "")
globals().update(email.read_server(EMAIL_SERVER))
DEFAULT_FROM_EMAIL = os.environ.get("PREFERENDUM_EMAIL_FROM", f"preferendum@{_host}")
PASSWORD_RESET_TIMEOUT = 3600  # seconds that a link to a new password is valid

# The token that a scraper sends to read /metrics; without it only superusers may.
METRICS_TOKEN = load_metrics_token()

LOGGING = logs.configuration()

SILENCED_SYSTEM_CHECKS = [] if SECURE else ["security.W004", "security.W008", "security.W012", "security.W016"]
if TESTING:
    PACE_SECONDS = 0.0  # tests judge faster than people; those about pace set it
    # Slow hashing is the purpose of a password hasher, and not of a test suite.
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    WHITENOISE_AUTOREFRESH = True
