-- A passkey keeps whose it is and its key, once removed it stays so, and it is never deleted. What
-- was signed is only ever added.

CREATE FUNCTION agent_passkeys_keep_passkey() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (TG_OP = 'TRUNCATE' AND EXISTS (SELECT 1 FROM {schema}.agent_passkeys_passkey)) THEN
        RAISE EXCEPTION 'A passkey cannot be deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        RETURN NULL;
    END IF;
    IF (OLD.id, OLD.person_id, OLD.credential_id, OLD.public_key, OLD.is_apart, OLD.is_synced, OLD.added_at)
        IS DISTINCT FROM
        (NEW.id, NEW.person_id, NEW.credential_id, NEW.public_key, NEW.is_apart, NEW.is_synced, NEW.added_at)
        OR OLD.removed_at IS NOT NULL
    THEN
        RAISE EXCEPTION 'What a passkey is cannot be changed.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END;
$$;

CREATE FUNCTION agent_passkeys_keep_signature() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND NOT EXISTS (SELECT 1 FROM {schema}.agent_passkeys_signature) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'A signature cannot be changed or deleted.' USING ERRCODE = 'restrict_violation';
END;
$$;

CREATE TRIGGER agent_passkeys_passkey_kept BEFORE DELETE OR UPDATE ON agent_passkeys_passkey FOR EACH ROW EXECUTE FUNCTION agent_passkeys_keep_passkey();

CREATE TRIGGER agent_passkeys_passkey_truncate BEFORE TRUNCATE ON agent_passkeys_passkey FOR EACH STATEMENT EXECUTE FUNCTION agent_passkeys_keep_passkey();

CREATE TRIGGER agent_passkeys_signature_kept BEFORE DELETE OR UPDATE ON agent_passkeys_signature FOR EACH ROW EXECUTE FUNCTION agent_passkeys_keep_signature();

CREATE TRIGGER agent_passkeys_signature_truncate BEFORE TRUNCATE ON agent_passkeys_signature FOR EACH STATEMENT EXECUTE FUNCTION agent_passkeys_keep_signature();
