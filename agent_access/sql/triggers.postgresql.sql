-- Audit events are only ever added. Those that an archive mark stands for may be removed by the owner of
-- the table, who is not the service: they are in a file then (ADR 22). A mark is that of the last event
-- before a moment, which pages tell as the one before which events are elsewhere.

CREATE FUNCTION agent_access_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'audit events are never changed or deleted';
END;
$$;

CREATE FUNCTION agent_access_refuse_audit_removal() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') AND EXISTS (
        SELECT FROM {schema}.agent_access_archivemark WHERE chain = OLD.chain AND sequence >= OLD.sequence
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit events are never deleted, unless their owner has archived them';
END;
$$;

CREATE FUNCTION agent_access_check_archive_mark() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
        RAISE EXCEPTION 'archive marks are made by the owner of the tables alone';
    END IF;
    IF NOT EXISTS (
        SELECT FROM {schema}.agent_access_auditevent
        WHERE chain = NEW.chain AND sequence = NEW.sequence AND digest = NEW.digest
    ) THEN
        RAISE EXCEPTION 'an archive mark is that of an event with this digest';
    END IF;
    IF NEW.before > now() - interval '90 days' THEN
        RAISE EXCEPTION 'events of the last 90 days are never archived';
    END IF;
    IF EXISTS (
        SELECT FROM {schema}.agent_access_auditevent
        WHERE chain = NEW.chain AND (
            sequence = NEW.sequence AND occurred_at >= NEW.before
            OR sequence = NEW.sequence + 1 AND occurred_at < NEW.before
        )
    ) THEN
        RAISE EXCEPTION 'an archive mark is that of the last event before its day';
    END IF;
    RETURN NEW;
END;
$$;

CREATE FUNCTION agent_access_refuse_mark_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'archive marks are never changed or deleted';
END;
$$;

CREATE TRIGGER agent_access_audit_unchanged BEFORE UPDATE ON agent_access_auditevent FOR EACH ROW EXECUTE FUNCTION agent_access_refuse_audit_change();

CREATE TRIGGER agent_access_audit_undeleted BEFORE DELETE ON agent_access_auditevent FOR EACH ROW EXECUTE FUNCTION agent_access_refuse_audit_removal();

CREATE TRIGGER agent_access_audit_untruncated BEFORE TRUNCATE ON agent_access_auditevent FOR EACH STATEMENT EXECUTE FUNCTION agent_access_refuse_audit_change();

CREATE TRIGGER agent_access_mark_checked BEFORE INSERT ON agent_access_archivemark FOR EACH ROW EXECUTE FUNCTION agent_access_check_archive_mark();

CREATE TRIGGER agent_access_mark_unchanged BEFORE DELETE OR UPDATE ON agent_access_archivemark FOR EACH ROW EXECUTE FUNCTION agent_access_refuse_mark_change();

CREATE TRIGGER agent_access_mark_untruncated BEFORE TRUNCATE ON agent_access_archivemark FOR EACH STATEMENT EXECUTE FUNCTION agent_access_refuse_mark_change();
