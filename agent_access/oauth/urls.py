"""The routes of browser sign-in, with no trailing slash."""

from django.urls import path

from agent_access.oauth.asking_pages import answer, show_state
from agent_access.oauth.consent import authorize
from agent_access.oauth.exchange import issue_tokens, revoke
from agent_access.oauth.paths import AUTHORIZE_PATH
from agent_access.oauth.registration import register

app_name = "agent_oauth"

urlpatterns = [
    path("oauth/register", register, name="register"),
    path(AUTHORIZE_PATH[1:], authorize, name="authorize"),
    path("oauth/requests/<agent_access_id:pk>", answer, name="access-request"),
    path("oauth/requests/<agent_access_id:pk>/state", show_state, name="access-request-state"),
    path("oauth/token", issue_tokens, name="token"),
    path("oauth/revoke", revoke, name="revoke"),
]
