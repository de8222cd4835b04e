"""The people of the company, who are its user accounts as well."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import Group, PermissionsMixin
from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Length, Lower
from django.db.models.lookups import Exact
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.email_addresses import fold_address
from invoicing.models.records import Record, RecordQuerySet

# One whose domain has another spelling in ASCII is stored with that one.
NOT_ASCII = _('Write this e-mail address in ASCII, its domain as "xn--...".')


class Skill(Record):
    name = models.CharField(max_length=100, unique=True)

    class Meta:
        ordering = ["name"]

    @override
    def __str__(self) -> str:
        return self.name


class Role(Group):
    """Permissions that are given together: Django's group, under the name that the admin shows."""

    class Meta:
        proxy = True
        default_permissions = ()  # may_give_every_right() decides who may change roles


class UserQuerySet(RecordQuerySet["User"]):
    def listed(self) -> Self:
        """Return the active staff without guests, for whom connections may act."""
        return self.filter(is_active=True, is_guest=False)


class UserManager(BaseUserManager["User"]):
    """Makes people; e-mail addresses are kept folded, so that each has one, however it is typed."""

    @override
    def get_queryset(self) -> UserQuerySet:
        return UserQuerySet(self.model, using=self._db)

    def listed(self) -> UserQuerySet:
        return self.get_queryset().listed()

    @override
    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """Return the one form in which an address is kept and compared."""
        return fold_address(email or "")

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Save a person, who without a password cannot sign in."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        with transaction.atomic(using=self._db):  # and what is written when a person is saved
            user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    @override
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=self.normalize_email(username))


class OctetLength(models.Func):
    """How many bytes a text has in UTF-8."""

    function = "OCTET_LENGTH"
    output_field = models.IntegerField()

    @override
    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "LENGTH(CAST(%(expressions)s AS BLOB))"
        return self.as_sql(compiler, connection, template=template, **context)


class User(Record, AbstractBaseUser, PermissionsMixin):
    """A person, who is a user account too; the e-mail address is the user name."""

    email = models.EmailField(_("work e-mail"), unique=True)
    name = models.CharField(max_length=200)
    job_title = models.CharField(max_length=200, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC", help_text=_("An IANA name."))
    # When the person said where they are; before, their time zone is what somebody else assumed.
    time_zone_chosen_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Of pages and mails; if empty, the browser's.
    language = models.CharField(max_length=20, blank=True, default="", db_default="")
    manager = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="reports"
    )
    skills = models.ManyToManyField(Skill, blank=True, related_name="people")
    is_active = models.BooleanField(default=True)
    is_guest = models.BooleanField(default=False)
    # The last day, in UTC, on which a guest may read evidence, and nothing else.
    audits_until = models.DateField(
        _("audits until"),
        null=True,
        blank=True,
        help_text=_(
            "Makes a guest an auditor: to the end of this day in UTC they may read the evidence of"
            " all issued documents, and nothing else."
        ),
    )
    is_staff = models.BooleanField(_("administrator"), default=False)
    # Raised by a trigger, too, with whatever ends web sessions; connections end when it changes.
    session_revision = models.PositiveIntegerField(default=1, editable=False)
    # How often the hash of an unchanged password was upgraded; the trigger lets that end nothing.
    password_upgrades = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    # Since when the checklist of setting up is not on this person's home page any more.
    setup_put_away_at = models.DateTimeField(null=True, blank=True, editable=False)

    # These three and time off never leave through a tool.
    private_email = models.EmailField(blank=True, default="")
    private_phone = models.CharField(max_length=40, blank=True, default="")
    hourly_rate = models.BigIntegerField(null=True, blank=True, help_text=_("In minor units."))

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")
        permissions = [("view_person", "Can view people and teams")]
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="email_lower"),
            models.CheckConstraint(
                condition=Exact(OctetLength("email"), Length("email")),
                name="email_ascii",
                violation_error_message=NOT_ASCII,
            ),
            models.CheckConstraint(
                condition=models.Q(session_revision__gte=1), name="session_revision_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(hourly_rate__isnull=True) | models.Q(hourly_rate__gte=0),
                name="hourly_rate_not_negative",
            ),
        ]

    @override
    def __str__(self) -> str:
        return self.name

    @property
    def is_listed(self) -> bool:
        """Return whether UserQuerySet.listed() has this person."""
        return self.is_active and not self.is_guest

    @property
    def is_auditor(self) -> bool:
        """Return whether this guest may see evidence at most, and after their last day nothing."""
        return self.is_guest and self.audits_until is not None

    @property
    def spoken(self) -> str:
        """The language that the person chose, if pages still have it; empty for the browser's."""
        return self.language if self.language in dict(settings.LANGUAGES) else ""

    @override
    def check_password(self, raw_password: str | None) -> bool:
        """Return whether this is the password; an outdated hash is upgraded."""
        return check_password(raw_password, self.password, self._upgrade_password)

    def _upgrade_password(self, raw_password: str) -> None:
        """Store another hash of the same password, unless the password changed meanwhile."""
        digest = make_password(raw_password)
        unchanged = User.objects.filter(pk=self.pk, password=self.password)
        if unchanged.update(password=digest, password_upgrades=F("password_upgrades") + 1):
            self.password = digest

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that Django compares in each web session; a change of it ends them."""
        facts = (self.session_revision, self.is_active, self.is_guest)
        rights = (self.is_staff, self.is_superuser)
        value = f"{self.password} {facts} {rights}"
        digest = salted_hmac("invoicing.session", value, secret=secret, algorithm="sha256")
        return digest.hexdigest()


class TeamQuerySet(RecordQuerySet["Team"]):
    def listed(self) -> Self:
        """Return those that are not archived."""
        return self.filter(archived_at__isnull=True)


class Team(Record):
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    leads = models.ManyToManyField(User, blank=True, related_name="led_teams")
    members = models.ManyToManyField(User, blank=True, related_name="teams")
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[TeamQuerySet] = TeamQuerySet.as_manager()  # type: ignore[assignment]  # a manager of it

    @override
    def __str__(self) -> str:
        return self.name


class WorkingHours(Record):
    """One stretch of a person's working week; a day may have several."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="working_hours")
    weekday = models.PositiveSmallIntegerField(help_text=_("0 is Monday, 6 is Sunday."))
    start_time = models.TimeField()
    end_time = models.TimeField()

    class Meta:
        ordering = ["weekday", "start_time"]
        verbose_name_plural = _("working hours")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(start_time__lt=models.F("end_time")),
                name="working_hours_start_before_end",
            ),
            models.CheckConstraint(
                condition=models.Q(weekday__range=(0, 6)), name="working_hours_weekday"
            ),
        ]


class TimeOffKind(models.TextChoices):
    HOLIDAY = "holiday", _("Holiday")
    SICKNESS = "sickness", _("Sickness")
    OTHER = "other", _("Other")


class TimeOff(Record):
    """Days on which a person does not work; this never leaves through a tool."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="time_off")
    start_date = models.DateField()
    end_date = models.DateField()
    kind = models.CharField(max_length=10, choices=TimeOffKind)

    class Meta:
        verbose_name_plural = _("time off")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(end_date__gte=models.F("start_date")),
                name="time_off_end_not_before_start",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=TimeOffKind.values), name="time_off_kind"
            ),
        ]
