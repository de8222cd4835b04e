"""The pages on which a person looks up colleagues, without their private data."""

from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext

from invoicing.access import Permission
from invoicing.identifiers import read_uuid
from invoicing.models import Team, User
from invoicing.search.texts import texts_of_people
from invoicing.web.listings import build_query, list_matching, read_search
from invoicing.web.pages import SignedInRequest, page

MOST_TEAMS = 100


@page(Permission.VIEW_PERSON)
def list_people(request: SignedInRequest) -> HttpResponse:
    search = read_search(request.GET)
    teams = Team.objects.listed().order_by("name", "pk")
    pk = read_uuid(request.GET.get("team", ""))
    team = teams.filter(pk=pk).first() if pk else None
    people = User.objects.listed().filter(teams=team) if team else User.objects.listed()
    kept = {"team": str(team.pk)} if team else {}
    listing = list_matching(request, people, texts=texts_of_people(), **kept)
    prefetch_related_objects(
        listing.records, Prefetch("teams", Team.objects.listed().order_by("name"))
    )
    context = {
        "listing": listing,
        "team": team,
        "teams": [
            (build_query(search=search, team=str(each.pk)), each) for each in teams[:MOST_TEAMS]
        ],
        "all_teams_href": build_query(search=search),
        "kept": list(kept.items()),
    }
    return render(request, "invoicing/people.html", context)


@page(Permission.VIEW_PERSON)
def show_person(request: SignedInRequest, pk: UUID) -> HttpResponse:
    person = User.objects.listed().find(pk)
    context = {
        "person": person,
        "manager": User.objects.listed().filter(reports=person).first(),
        "teams": Team.objects.listed().filter(members=person).order_by("name"),
        "skills": person.skills.all(),
        "week": _week(person),
    }
    return render(request, "invoicing/person.html", context)


def _week(person: User) -> list[tuple[str, list[str]]]:
    """Return the days by name, each with its hours; no hours means a day off."""
    hours: list[list[str]] = [[] for _ in WEEKDAYS]
    for stretch in person.working_hours.all():
        start, end = f"{stretch.start_time:%H:%M}", f"{stretch.end_time:%H:%M}"
        told = gettext("%(start)s to %(end)s") % {"start": start, "end": end}
        hours[stretch.weekday].append(told)
    return [(str(WEEKDAYS[weekday]), day) for weekday, day in enumerate(hours)]
