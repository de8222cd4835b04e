"""The pages for people."""

from django.urls import path

from invoicing.web import customers, documents, home, people, sign_in

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in", sign_in.sign_in, name="sign-in"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("documents", documents.list_documents, name="documents"),
    path("customers", customers.list_customers, name="customers"),
    path("people", people.list_people, name="people"),
]
