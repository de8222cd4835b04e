-- Audit events are only ever added.

CREATE FUNCTION agent_access_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'audit events are never changed or deleted';
END;
$$;

CREATE TRIGGER agent_access_audit_unchanged BEFORE DELETE OR UPDATE ON agent_access_auditevent FOR EACH ROW EXECUTE FUNCTION agent_access_refuse_audit_change();

CREATE TRIGGER agent_access_audit_untruncated BEFORE TRUNCATE ON agent_access_auditevent FOR EACH STATEMENT EXECUTE FUNCTION agent_access_refuse_audit_change();
