-- Audit events are only ever added.

CREATE TRIGGER agent_access_audit_unchanged BEFORE UPDATE ON agent_access_auditevent
BEGIN
    SELECT RAISE(ABORT, 'audit events are never changed');
END;

CREATE TRIGGER agent_access_audit_undeleted BEFORE DELETE ON agent_access_auditevent
BEGIN
    SELECT RAISE(ABORT, 'audit events are never deleted');
END;
