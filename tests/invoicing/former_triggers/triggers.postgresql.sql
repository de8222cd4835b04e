-- An approval keeps what was prepared, and what was decided and executed; it is never deleted.

CREATE FUNCTION invoices_keep_approval() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (TG_OP = 'TRUNCATE' AND EXISTS (SELECT 1 FROM {schema}.invoices_issueapproval)) THEN
        RAISE EXCEPTION 'An approval cannot be deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        RETURN NULL;
    END IF;
    IF OLD.executed_at IS NOT NULL
        OR (OLD.decision <> '' AND (OLD.decision, OLD.decided_at, OLD.rejection_reason)
            IS DISTINCT FROM (NEW.decision, NEW.decided_at, NEW.rejection_reason))
        OR (OLD.id, OLD.document_id, OLD.delegated_user_id, OLD.connection_id, OLD.connection_name,
            OLD.lock_version, OLD.facts, OLD.fingerprint, OLD.nonce_digest, OLD.prepared_at, OLD.expires_at)
            IS DISTINCT FROM
            (NEW.id, NEW.document_id, NEW.delegated_user_id, NEW.connection_id, NEW.connection_name,
            NEW.lock_version, NEW.facts, NEW.fingerprint, NEW.nonce_digest, NEW.prepared_at, NEW.expires_at)
    THEN
        RAISE EXCEPTION 'What an approval says cannot be changed.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER invoices_issueapproval_kept BEFORE DELETE OR UPDATE ON invoices_issueapproval FOR EACH ROW EXECUTE FUNCTION invoices_keep_approval();

CREATE TRIGGER invoices_issueapproval_truncate BEFORE TRUNCATE ON invoices_issueapproval FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_approval();
