"""The paths of browser sign-in, with no trailing slash."""

from django.urls import path

from agent_access.discovery import RESOURCE_METADATA_PATH
from agent_access.oauth import paths
from agent_access.oauth.consent import authorize
from agent_access.oauth.discovery import describe_resource, describe_server
from agent_access.oauth.exchange import issue_tokens, revoke
from agent_access.oauth.registration import register

urlpatterns = [
    path(RESOURCE_METADATA_PATH[1:], describe_resource),
    path(paths.ROOT_RESOURCE_METADATA_PATH[1:], describe_resource),
    path(paths.SERVER_METADATA_PATH[1:], describe_server),
    path(paths.LONG_SERVER_METADATA_PATH[1:], describe_server),
    path(paths.REGISTER_PATH[1:], register),
    path(paths.AUTHORIZE_PATH[1:], authorize),
    path(paths.TOKEN_PATH[1:], issue_tokens),
    path(paths.REVOKE_PATH[1:], revoke),
]
