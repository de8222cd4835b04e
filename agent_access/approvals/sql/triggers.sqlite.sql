-- An approval keeps what was prepared, and what was decided and executed; it is never deleted.

CREATE TRIGGER agent_approvals_request_kept_insert BEFORE INSERT ON agent_approvals_approvalrequest
WHEN EXISTS (
    SELECT 1 FROM agent_approvals_approvalrequest
    WHERE rowid = NEW.rowid OR id = NEW.id OR (kind = NEW.kind AND target = NEW.target
        AND happens_once AND NEW.happens_once
        AND executed_at IS NOT NULL AND NEW.executed_at IS NOT NULL)
)
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be replaced.');
END;

CREATE TRIGGER agent_approvals_request_kept_update BEFORE UPDATE ON agent_approvals_approvalrequest
WHEN OLD.executed_at IS NOT NULL
    OR (OLD.decision != '' AND (OLD.decision, OLD.decided_at, OLD.rejection_reason, OLD.demand)
        IS NOT (NEW.decision, NEW.decided_at, NEW.rejection_reason, NEW.demand))
    OR (OLD.rowid, OLD.id, OLD.kind, OLD.happens_once, OLD.target, OLD.target_version, OLD.delegated_user_id,
        OLD.connection_id, OLD.connection_name, OLD.facts, OLD.fingerprint, OLD.nonce_digest, OLD.prepared_at,
        OLD.expires_at, OLD.repeats)
        IS NOT (NEW.rowid, NEW.id, NEW.kind, NEW.happens_once, NEW.target, NEW.target_version, NEW.delegated_user_id,
        NEW.connection_id, NEW.connection_name, NEW.facts, NEW.fingerprint, NEW.nonce_digest, NEW.prepared_at,
        NEW.expires_at, NEW.repeats)
BEGIN
    SELECT RAISE(ABORT, 'What an approval says cannot be changed.');
END;

CREATE TRIGGER agent_approvals_request_replaced_update BEFORE UPDATE ON agent_approvals_approvalrequest
WHEN NEW.executed_at IS NOT NULL AND NEW.happens_once AND EXISTS (
    SELECT 1 FROM agent_approvals_approvalrequest
    WHERE kind = NEW.kind AND target = NEW.target AND happens_once AND executed_at IS NOT NULL
)
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be replaced.');
END;

CREATE TRIGGER agent_approvals_request_kept_delete BEFORE DELETE ON agent_approvals_approvalrequest
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be deleted.');
END;
