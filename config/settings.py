"""Django's settings: what the environment says, and what every installation shares."""

import dj_database_url
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.environment import PROJECT_FOLDER, VAR_FOLDER, read_environment, split_keys

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

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "agent_access",
    "invoicing",
]
MIDDLEWARE = ["agent_access.gate.GateMiddleware"]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

LOCK_TIMEOUT_SECONDS = 5
STATEMENT_TIMEOUT_SECONDS = 15

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
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        **DATABASES["default"].get("OPTIONS", {}),
        "server_side_binding": True,
        "prepare_threshold": 1,
        "options": (
            f"-c lock_timeout={LOCK_TIMEOUT_SECONDS}s"
            f" -c statement_timeout={STATEMENT_TIMEOUT_SECONDS}s"
        ),
    }

# The library's own choice holds a request for minutes when the cache is gone. One more try, since
# a connection that lay idle may have been closed.
SHARED_CACHE_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "retry": Retry(NoBackoff(), 1),
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": ENVIRONMENT.CACHE_URL,
        "OPTIONS": SHARED_CACHE_OPTIONS,
    }
    if ENVIRONMENT.CACHE_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        # The default of 300 would let many addresses push each other's counters out.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

AUTH_USER_MODEL = "invoices.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "German"), ("fr", "French"), ("es", "Spanish")]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

AGENT_ACCESS = {
    "BASE_URL": BASE_URL,
    "HOST": "invoicing.agent_host.InvoicingHost",
    "TRUSTED_PROXIES": ENVIRONMENT.TRUSTED_PROXIES,
    "LIMIT_PER_CONNECTION": ENVIRONMENT.LIMIT_PER_CONNECTION,
    "LIMIT_PER_ADDRESS": ENVIRONMENT.LIMIT_PER_ADDRESS,
}
DEMO_MODE = ENVIRONMENT.DEMO_MODE

REST_FRAMEWORK = {
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "agent_access.request_ids.RequestIdFilter"}},
    "formatters": {
        "line": {
            "format": "{asctime} {levelname} {name} [{request_id}] {message}",
            "style": "{",
        }
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["request_id"],
        }
    },
    # Django would log the path of every refused request; the audit says more, and no path.
    "loggers": {"django.request": {"level": "ERROR"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
}
