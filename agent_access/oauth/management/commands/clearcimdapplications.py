from agent_access.oauth.management.refused import RefusedCommand


class Command(RefusedCommand):
    help = "Refused: use forget_old_tokens."
    instead = (
        "clearcimdapplications would delete the codes and tokens of each client with it. Run"
        " forget_old_tokens, which deletes clients that never got a connection."
    )
