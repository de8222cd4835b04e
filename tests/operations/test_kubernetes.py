"""The manifests for Kubernetes: sound by its schemas, without rights, and true to the service."""

import json
import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.core.management import get_commands

from config.environment import METRICS_FOLDER, PROJECT_FOLDER, Environment

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

FOLDER = PROJECT_FOLDER / "deploy" / "kubernetes"
DOCKERFILE = (PROJECT_FOLDER / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((PROJECT_FOLDER / "compose.yaml").read_text(encoding="utf-8"))
EXAMPLE = "secrets.example.yaml"
AUTHORITY = "/etc/postgresql"
OLDEST, NEWEST = "1.30", "1.37"

Manifest = dict[str, Any]


def read(file: Path) -> list[Manifest]:
    return [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]


KUSTOMIZATION = read(FOLDER / "kustomization.yaml")[0]
APPLIED = [each for name in KUSTOMIZATION["resources"] for each in read(FOLDER / name)]
SECRETS = {
    each["metadata"]["name"]: each["stringData"]
    for each in read(FOLDER / EXAMPLE)
    if each["kind"] == "Secret"
}
ALL = [*APPLIED, *read(FOLDER / EXAMPLE)]


def named(manifest: Manifest) -> str:
    return f"{manifest['kind']}-{manifest['metadata']['name']}"


def of_kind(kind: str) -> list[Manifest]:
    return [each for each in APPLIED if each["kind"] == kind]


def pod_template(manifest: Manifest) -> Manifest | None:
    """Return what the manifest's pods are made from; None if it has none."""
    spec = manifest.get("spec", {})
    template: Manifest | None = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    return template


TEMPLATES = {named(each): template for each in APPLIED if (template := pod_template(each))}
CONTAINERS = {
    f"{name}-{container['name']}": container
    for name, template in TEMPLATES.items()
    for container in template["spec"]["containers"]
}


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("manifest", ALL, ids=named)
def test_a_manifest_is_what_kubernetes_takes(manifest, version):
    kubernetes_validate.validate(manifest, version, strict=True)


def test_every_manifest_is_applied_but_the_example_of_secrets():
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml", EXAMPLE}
    assert set(KUSTOMIZATION["resources"]) == files
    assert set(TEMPLATES) == {
        "CronJob-daily",
        "Deployment-deliver",
        "Deployment-web",
        "Job-migrate",
    }


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_pod_runs_as_the_images_account_and_asks_kubernetes_nothing(name):
    spec = TEMPLATES[name]["spec"]
    account = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": int(account[-1]),
        "runAsGroup": int(account[-1]),
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccountName"} & set(spec)
    # Only what is lost with the pod can be written.
    tmp, authority = spec["volumes"]
    assert set(tmp) == {"name", "emptyDir"}
    assert authority == {"name": "authority", "configMap": {"name": "authority"}}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_has_no_rights_and_an_end_to_its_memory(name):
    container = CONTAINERS[name]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    assert set(container["resources"]["limits"]) == {"memory"}
    assert container["volumeMounts"] == [
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  of the pod alone
        {"name": "authority", "mountPath": AUTHORITY, "readOnly": True},
    ]


def test_the_databases_certificate_is_checked_with_what_is_mounted():
    text = (FOLDER / EXAMPLE).read_text(encoding="utf-8")
    assert set(re.findall(r"sslrootcert=(\S+)", text)) == {f"{AUTHORITY}/ca.pem"}
    [authority] = [each for each in read(FOLDER / EXAMPLE) if each["kind"] == "ConfigMap"]
    assert (authority["metadata"]["name"], set(authority["data"])) == ("authority", {"ca.pem"})


def test_the_image_is_the_one_that_compose_builds():
    [image] = {container["image"] for container in CONTAINERS.values()}
    assert image == COMPOSE["services"]["web"]["image"]
    [named_in_kustomization] = KUSTOMIZATION["images"]
    assert f"{named_in_kustomization['name']}:{named_in_kustomization['newTag']}" == image


@pytest.mark.parametrize("name", [name for name in CONTAINERS if "Deployment-web" not in name])
def test_a_container_runs_a_command_that_there_is(name):
    python, program, command, *_ = CONTAINERS[name]["command"]
    assert (python, program) == ("python", "manage.py")
    assert command in get_commands()


def test_every_setting_that_a_manifest_names_is_one_of_the_service():
    [settings] = of_kind("ConfigMap")
    of_containers = {
        each["name"] for container in CONTAINERS.values() for each in container.get("env", [])
    }
    known = {*Environment.model_fields, METRICS_FOLDER}
    assert {*settings["data"], *of_containers, *SECRETS["secrets"], *SECRETS["owner"]} <= known


def test_the_service_takes_the_settings_with_secrets_filled_in(monkeypatch):
    [settings] = of_kind("ConfigMap")
    for name in Environment.model_fields:
        monkeypatch.delenv(name, raising=False)
    given = {**settings["data"], **SECRETS["secrets"]}
    given["SECRET_KEY"] = "a-key-for-tests-which-guards-nothing-at-all-whatsoever"
    given["DATABASE_URL"] = "postgresql://invoicing_service:x@db.example/invoicing"
    environment = Environment(_env_file=None, **given)
    assert (environment.TRUSTED_PROXIES, environment.LOG_FORMAT) == (1, "json")


def test_no_secret_stands_in_a_manifest():
    assert of_kind("Secret") == []
    assert {value for values in SECRETS.values() for value in values.values()} == {""}
    secret = {name for name in Environment.model_fields if "SECRET" in name or "KEY" in name}
    secret |= {"DATABASE_URL", "CACHE_URL", "EMAIL_URL"}
    assert set(SECRETS["secrets"]) == secret
    [settings] = of_kind("ConfigMap")
    assert not secret & set(settings["data"])


def test_only_the_migration_gets_the_role_that_owns_the_tables():
    given = {
        name: [each["secretRef"]["name"] for each in container["envFrom"] if "secretRef" in each]
        for name, container in CONTAINERS.items()
    }
    assert given.pop("Job-migrate-migrate") == ["secrets", "owner"]
    assert set(map(tuple, given.values())) == {("secrets",)}


def test_a_probe_asks_what_is_answered_and_none_restarts_a_pod_within_a_minute():
    web = CONTAINERS["Deployment-web-web"]
    paths = {name: web[name]["httpGet"] for name in web if name.endswith("Probe")}
    assert paths == {
        "startupProbe": {"path": "/healthz", "port": "http"},
        "livenessProbe": {"path": "/healthz", "port": "http"},
        "readinessProbe": {"path": "/readyz", "port": "http"},
    }
    alive = web["livenessProbe"]
    assert alive["periodSeconds"] * alive["failureThreshold"] >= 60


def test_the_ports_are_those_that_the_image_and_prometheus_use():
    web = CONTAINERS["Deployment-web-web"]
    [serve] = re.findall(r'^CMD (\["granian".*\])$', DOCKERFILE, re.MULTILINE)
    served = json.loads(serve)
    metrics = next(each["value"] for each in web["env"] if each["name"] == "METRICS_ADDRESS")
    assert web["ports"] == [
        {"name": "http", "containerPort": int(served[served.index("--port") + 1])},
        {"name": "metrics", "containerPort": int(metrics.rpartition(":")[2])},
    ]
    let_in = {
        port["port"]
        for policy in of_kind("NetworkPolicy")
        for rule in policy["spec"].get("ingress", [])
        for port in rule["ports"]
    }
    assert let_in == {port["containerPort"] for port in web["ports"]}


def test_whatever_selects_pods_selects_some_of_ours():
    labels = [template["metadata"]["labels"] for template in TEMPLATES.values()]
    for service in of_kind("Service"):
        assert service["spec"]["selector"] in labels
    for budget in of_kind("PodDisruptionBudget"):
        assert budget["spec"]["selector"]["matchLabels"] in labels
    for deployment in of_kind("Deployment"):
        template = deployment["spec"]["template"]
        assert deployment["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind("NetworkPolicy")}
    assert policies["nothing-else"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    [chosen] = policies["cache-and-outside"]["podSelector"]["matchExpressions"]
    assert {label["app"] for label in labels} - set(chosen["values"]) == {"migrate"}


def test_every_daily_command_of_the_documents_is_run():
    run = [" ".join(CONTAINERS[name]["command"][1:]) for name in CONTAINERS if "daily" in name]
    text = (PROJECT_FOLDER / "docs" / "operations.md").read_text(encoding="utf-8")
    daily = text[text.index("\nOnce a day: ") : text.index("the heads of the audit, and a backup")]
    commands = re.findall(r"`(manage\.py [^`]+)`", daily)
    assert len(commands) == 3
    assert run == [*commands, "manage.py verify_audit"]
