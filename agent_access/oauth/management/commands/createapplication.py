from agent_access.oauth.management.refused import RefusedCommand


class Command(RefusedCommand):
    help = "Refused: clients register themselves."
    instead = (
        "createapplication makes clients with secrets and addresses that nobody checked. Clients"
        " register themselves at /oauth/register, or name their metadata document."
    )
