"""Codes and tokens have no page: the toolkit's own would show them to administrators."""

from django.contrib import admin

from agent_access.oauth.models import AccessToken, Application, Grant, IDToken, RefreshToken

admin.site.unregister([AccessToken, Application, Grant, IDToken, RefreshToken])
