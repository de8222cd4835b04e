"""Django's settings: what the environment says, and what every installation shares."""

import dj_database_url
from csp.constants import NONE, SELF

from config.environment import PROJECT_FOLDER, VAR_FOLDER, read_environment, split_keys
from config.languages import find_languages
from config.mail import parse_email_url
from config.operations.log_lines import TEXT
from invoicing.application_url import loopback_address

ENVIRONMENT = read_environment()

BASE_DIR = PROJECT_FOLDER
VAR_DIR = VAR_FOLDER
DEBUG = False
SECRET_KEY = ENVIRONMENT.SECRET_KEY.get_secret_value()
SECRET_KEY_FALLBACKS = split_keys(ENVIRONMENT.SECRET_KEY_FALLBACKS)
BASE_URL = ENVIRONMENT.BASE_URL

# The gate compares scheme, host and port with BASE_URL before anything of Django's acts.
ALLOWED_HOSTS = ["*"]
APPEND_SLASH = False

# Two libraries of agent_access are no apps here. Of REST framework, an app would add pages and
# translations; of django-ratelimit, checks of the cache that refuse what agent_access.W002 judges.
INSTALLED_APPS = [
    # Before auth, whose changepassword would leave connections alive, and whose createsuperuser no
    # audit event.
    "invoicing",
    "config.apps.OwnersAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
    "agent_access",
    "agent_access.approvals",
    "agent_access.oauth",
    "agent_access.passkeys",
    "agent_access.telling",
    "oauth2_provider",  # a library of agent_access.oauth; nothing uses its own tables
    "mcp_gateway",
    "config.operations",
]
MIDDLEWARE = [
    "agent_access.gate.GateMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # What follows is for pages alone.
    "agent_access.gate.ToolMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "invoicing.web.language.LanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    # A page is for people who have signed in, unless it says that it is not.
    "invoicing.web.accounts.signed_in.SignedInMiddleware",
    "invoicing.web.failures.explain_methods",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PROJECT_FOLDER / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "invoicing.web.navigation.navigation",
                "invoicing.web.accounts.passkey_notice.passkey_notice",
            ]
        },
    }
]

STATIC_URL = "/static/"
STATIC_ROOT = VAR_FOLDER / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False

CONNECT_TIMEOUT_SECONDS = 5
LOCK_TIMEOUT_SECONDS = 5
STATEMENT_TIMEOUT_SECONDS = 15
IDLE_IN_TRANSACTION_SECONDS = 30
# Longer than STATEMENT_TIMEOUT_SECONDS: the server ends a slow statement itself.
PATIENCE_SECONDS = 20
UNACKNOWLEDGED_MILLISECONDS = 10_000
KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 5, "keepalives_count": 3}

DATABASES = {"default": dj_database_url.parse(ENVIRONMENT.DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": LOCK_TIMEOUT_SECONDS,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
    # Django's own choice is a database in memory, which has no WAL and no second connection.
    DATABASES["default"]["TEST"] = {"NAME": f"{DATABASES['default']['NAME']}.test"}
else:
    DATABASES["default"]["ENGINE"] = "config.postgresql"
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        # Reads write audit events, and a connection to a standby would be kept while it answers.
        "target_session_attrs": "read-write",
        **DATABASES["default"].get("OPTIONS", {}),
        "server_side_binding": True,
        "prepare_threshold": 1,
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        # For a server that vanishes, as when its machine loses power: give up waiting for its
        # answer, and notice that an idle connection is dead.
        "tcp_user_timeout": UNACKNOWLEDGED_MILLISECONDS,
        **KEEPALIVES,
        # For a server that hangs while its machine confirms what is sent (TimeoutConnection).
        "receive_timeout": PATIENCE_SECONDS,
        # These override what the server, the database or the role has configured.
        "session": {
            "lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s",
            "statement_timeout": f"{STATEMENT_TIMEOUT_SECONDS}s",
            # A process that hangs or vanishes would keep its locks, such as everybody's number
            # series, for as long as TCP itself waits: two hours.
            "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS}s",
            **{f"tcp_{name}": str(value) for name, value in KEEPALIVES.items()},
            # A call that waited for another one must see what that one committed.
            "default_transaction_isolation": "read committed",
            "datestyle": "ISO",  # psycopg reads no other
        },
    }

# The default of 300 entries would let many addresses push each other's counters out.
CACHES: dict[str, dict[str, object]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
if ENVIRONMENT.CACHE_URL:
    from config.shared_cache import shared_cache_settings

    CACHES["default"] = shared_cache_settings(ENVIRONMENT.CACHE_URL)

AUTH_USER_MODEL = "invoices.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["name", "email"]},
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Seconds in which a one-time code lets somebody choose a password.
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60

LOGIN_URL = "sign-in"
SESSION_ENGINE = "invoicing.web.accounts.sessions"
SESSION_COOKIE_AGE = 12 * 60 * 60
# The prefix makes a browser refuse the cookie of a neighbouring host, or one sent without TLS.
SESSION_COOKIE_NAME = "__Host-session"
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Django's default storage would put the texts into a cookie.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
CSRF_COOKIE_NAME = "__Host-csrf"
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "invoicing.web.stale_tokens.answer_token"

# On loopback a browser would apply it to every other service on the developer's machine.
SECURE_HSTS_SECONDS = 0 if loopback_address(BASE_URL) else 365 * 24 * 60 * 60
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if ENVIRONMENT.TRUSTED_PROXIES else None
)
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],  # of asking.js
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# The form of the company takes a logo, and the import of customers a file. Django's own handlers
# would write whatever a stranger sends, to whatever page, to the disk.
DATA_UPLOAD_MAX_NUMBER_FILES = 1
FILE_UPLOAD_HANDLERS = ["invoicing.web.uploads.PageUploadHandler"]
# The form of a team has a checkbox for each person of the company.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Of pages and mails: a person chooses one that has a catalogue, or leaves it to the browser.
# Programs, commands and logs have LANGUAGE_CODE.
LANGUAGE_CODE = "en"
LANGUAGES = find_languages(PROJECT_FOLDER / "invoicing" / "locale")
# Of documents, each of which has its own whoever reads it; their words are in invoicing/paper.
DOCUMENT_LANGUAGES = [("en", "English"), ("de", "German"), ("fr", "French"), ("es", "Spanish")]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

AGENT_ACCESS = {
    "BASE_URL": BASE_URL,
    "CACHE_SETTING": "CACHE_URL",
    "GUARDS_WHOLE_SITE": True,
    "POLICY": "invoicing.agent_host.InvoicingPolicy",
    "TRUSTED_PROXIES": ENVIRONMENT.TRUSTED_PROXIES,
    "LIMIT_PER_CONNECTION": ENVIRONMENT.LIMIT_PER_CONNECTION,
    "LIMIT_PER_ADDRESS": ENVIRONMENT.LIMIT_PER_ADDRESS,
    "LIMIT_REGISTER": ENVIRONMENT.LIMIT_REGISTER,
    "LIMIT_TOKEN": ENVIRONMENT.LIMIT_TOKEN,
    "WEB_PUSH_KEY": ENVIRONMENT.WEB_PUSH_KEY.get_secret_value(),
    "MAIL_FROM": ENVIRONMENT.EMAIL_FROM if ENVIRONMENT.EMAIL_URL else "",
    "STAMP_URL": ENVIRONMENT.STAMP_URL,
}
DEMO_MODE = ENVIRONMENT.DEMO_MODE

# For `check --deploy` alone: it would warn of the toolkit's own views, which nobody mounts.
OAUTH2_PROVIDER = {
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
}

# EMAIL_BACKEND and what it needs.
globals().update(parse_email_url(ENVIRONMENT.EMAIL_URL))
METRICS_ADDRESS = ENVIRONMENT.METRICS_ADDRESS
TRACES_URL = ENVIRONMENT.TRACES_URL
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"refused": {"()": "config.operations.log_lines.RefusedRequests"}},
    "formatters": {
        "text": {
            "()": "config.operations.log_lines.TextLines",
            "fmt": TEXT,
            "style": "{",
        },
        "json": {"()": "config.operations.log_lines.JsonLines"},
    },
    "handlers": {
        "stderr": {
            "class": "config.operations.log_lines.StandardError",
            "formatter": ENVIRONMENT.LOG_FORMAT,
            "filters": ["refused"],
        }
    },
    # Django would log the path of every refused request; the request log says more, and no secret.
    # oauthlib would log codes and tokens at DEBUG.
    "loggers": {"django.request": {"level": "ERROR"}, "oauthlib": {"level": "WARNING"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
}

# Django's warnings that do not apply, each with the reason.
SILENCED_SYSTEM_CHECKS = [
    "security.W004",  # HSTS: it follows BASE_URL, and operations.W005 warns of a loopback one
    "security.W005",  # HSTS for subdomains: they belong to the company, not to this service
    "security.W008",  # redirect to HTTPS: the gate refuses plain HTTP and sends no credential on
    "security.W021",  # HSTS preload: the company's choice for its whole domain
]
