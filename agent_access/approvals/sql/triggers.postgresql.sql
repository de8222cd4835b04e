-- An approval keeps what was prepared, and what was decided and executed; it is never deleted.

CREATE FUNCTION agent_approvals_keep_request() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (TG_OP = 'TRUNCATE' AND EXISTS (SELECT 1 FROM {schema}.agent_approvals_approvalrequest)) THEN
        RAISE EXCEPTION 'An approval cannot be deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        RETURN NULL;
    END IF;
    IF OLD.executed_at IS NOT NULL
        OR (OLD.decision <> '' AND (OLD.decision, OLD.decided_at, OLD.rejection_reason, OLD.demand)
            IS DISTINCT FROM (NEW.decision, NEW.decided_at, NEW.rejection_reason, NEW.demand))
        OR (OLD.id, OLD.kind, OLD.happens_once, OLD.target, OLD.target_version, OLD.delegated_user_id,
            OLD.connection_id, OLD.connection_name, OLD.facts, OLD.fingerprint, OLD.nonce_digest, OLD.prepared_at,
            OLD.expires_at, OLD.repeats)
            IS DISTINCT FROM
            (NEW.id, NEW.kind, NEW.happens_once, NEW.target, NEW.target_version, NEW.delegated_user_id,
            NEW.connection_id, NEW.connection_name, NEW.facts, NEW.fingerprint, NEW.nonce_digest, NEW.prepared_at,
            NEW.expires_at, NEW.repeats)
    THEN
        RAISE EXCEPTION 'What an approval says cannot be changed.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER agent_approvals_request_kept BEFORE DELETE OR UPDATE ON agent_approvals_approvalrequest FOR EACH ROW EXECUTE FUNCTION agent_approvals_keep_request();

CREATE TRIGGER agent_approvals_request_truncate BEFORE TRUNCATE ON agent_approvals_approvalrequest FOR EACH STATEMENT EXECUTE FUNCTION agent_approvals_keep_request();
