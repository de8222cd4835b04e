-- An approval keeps what was prepared, and what was decided and executed; it is never deleted.

CREATE TRIGGER invoices_issueapproval_kept_insert BEFORE INSERT ON invoices_issueapproval
WHEN EXISTS (
    SELECT 1 FROM invoices_issueapproval
    WHERE rowid = NEW.rowid OR id = NEW.id OR (document_id = NEW.document_id
        AND executed_at IS NOT NULL AND NEW.executed_at IS NOT NULL)
)
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be replaced.');
END;

CREATE TRIGGER invoices_issueapproval_kept_update BEFORE UPDATE ON invoices_issueapproval
WHEN OLD.executed_at IS NOT NULL
    OR (OLD.decision != '' AND (OLD.decision, OLD.decided_at, OLD.rejection_reason)
        IS NOT (NEW.decision, NEW.decided_at, NEW.rejection_reason))
    OR (OLD.rowid, OLD.id, OLD.document_id, OLD.delegated_user_id, OLD.connection_id,
        OLD.connection_name, OLD.lock_version, OLD.facts, OLD.fingerprint, OLD.nonce_digest, OLD.prepared_at,
        OLD.expires_at)
        IS NOT (NEW.rowid, NEW.id, NEW.document_id, NEW.delegated_user_id, NEW.connection_id,
        NEW.connection_name, NEW.lock_version, NEW.facts, NEW.fingerprint, NEW.nonce_digest, NEW.prepared_at,
        NEW.expires_at)
BEGIN
    SELECT RAISE(ABORT, 'What an approval says cannot be changed.');
END;

CREATE TRIGGER invoices_issueapproval_replaced_update BEFORE UPDATE ON invoices_issueapproval
WHEN NEW.executed_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM invoices_issueapproval
    WHERE document_id = NEW.document_id AND executed_at IS NOT NULL
)
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be replaced.');
END;

CREATE TRIGGER invoices_issueapproval_kept_delete BEFORE DELETE ON invoices_issueapproval
BEGIN
    SELECT RAISE(ABORT, 'An approval cannot be deleted.');
END;
