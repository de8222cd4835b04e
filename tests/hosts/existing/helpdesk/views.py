"""The pages for people."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control, cache_page

from helpdesk.models import Ticket


class TicketForm(forms.ModelForm):
    class Meta:
        model = Ticket
        fields = ["subject", "body"]


@cache_page(60)
@cache_control(public=True)
def show_front(request: HttpRequest) -> HttpResponse:
    return render(request, "helpdesk/front.html")


def show_status(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"open": Ticket.objects.filter(status=Ticket.Status.OPEN).count()})


@login_required
def list_tickets(request: HttpRequest) -> HttpResponse:
    form = TicketForm(request.POST or None)
    if form.is_valid():
        form.instance.requester = request.user
        form.save()
        return redirect("tickets")
    tickets = Ticket.objects.filter(requester=request.user.pk).order_by("id")
    return render(request, "helpdesk/tickets.html", {"form": form, "tickets": tickets})
