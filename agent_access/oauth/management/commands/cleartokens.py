from agent_access.oauth.management.refused import RefusedCommand


class Command(RefusedCommand):
    help = "Refused: use forget_old_tokens."
    instead = (
        "cleartokens would delete used codes and rotated refresh tokens, which reveal a second use."
        " Run forget_old_tokens, which keeps them as long as they can reveal one."
    )
