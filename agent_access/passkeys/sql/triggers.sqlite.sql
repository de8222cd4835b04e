-- A passkey keeps whose it is and its key, once removed it stays so, and it is never deleted. What
-- was signed is only ever added.

CREATE TRIGGER agent_passkeys_passkey_unreplaced BEFORE INSERT ON agent_passkeys_passkey
WHEN EXISTS (
    SELECT 1 FROM agent_passkeys_passkey
    WHERE rowid = NEW.rowid OR id = NEW.id OR credential_id = NEW.credential_id
)
BEGIN
    SELECT RAISE(ABORT, 'A passkey cannot be replaced.');
END;

CREATE TRIGGER agent_passkeys_passkey_kept_update BEFORE UPDATE ON agent_passkeys_passkey
WHEN (OLD.rowid, OLD.id, OLD.person_id, OLD.credential_id, OLD.public_key, OLD.is_apart, OLD.is_synced, OLD.added_at)
    IS NOT (NEW.rowid, NEW.id, NEW.person_id, NEW.credential_id, NEW.public_key, NEW.is_apart, NEW.is_synced, NEW.added_at)
    OR OLD.removed_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'What a passkey is cannot be changed.');
END;

CREATE TRIGGER agent_passkeys_passkey_kept_delete BEFORE DELETE ON agent_passkeys_passkey
BEGIN
    SELECT RAISE(ABORT, 'A passkey cannot be deleted.');
END;

CREATE TRIGGER agent_passkeys_signature_unreplaced BEFORE INSERT ON agent_passkeys_signature
WHEN EXISTS (
    SELECT 1 FROM agent_passkeys_signature
    WHERE rowid = NEW.rowid OR id = NEW.id OR (purpose = NEW.purpose AND record_id = NEW.record_id)
)
BEGIN
    SELECT RAISE(ABORT, 'A signature cannot be replaced.');
END;

CREATE TRIGGER agent_passkeys_signature_unchanged BEFORE UPDATE ON agent_passkeys_signature
BEGIN
    SELECT RAISE(ABORT, 'A signature cannot be changed.');
END;

CREATE TRIGGER agent_passkeys_signature_undeleted BEFORE DELETE ON agent_passkeys_signature
BEGIN
    SELECT RAISE(ABORT, 'A signature cannot be deleted.');
END;
