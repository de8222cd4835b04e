-- Audit events are only ever added.
--
-- REPLACE removes the row it conflicts with and fires no delete trigger for it, so an insert that
-- would push an event out is refused as well, be it by the hidden rowid of the table.

CREATE TRIGGER agent_access_audit_unreplaced BEFORE INSERT ON agent_access_auditevent
WHEN EXISTS (
    SELECT 1 FROM agent_access_auditevent
    WHERE rowid = NEW.rowid OR id = NEW.id OR (chain = NEW.chain AND sequence = NEW.sequence)
)
BEGIN
    SELECT RAISE(ABORT, 'audit events are never replaced');
END;

CREATE TRIGGER agent_access_audit_unchanged BEFORE UPDATE ON agent_access_auditevent
BEGIN
    SELECT RAISE(ABORT, 'audit events are never changed');
END;

CREATE TRIGGER agent_access_audit_undeleted BEFORE DELETE ON agent_access_auditevent
BEGIN
    SELECT RAISE(ABORT, 'audit events are never deleted');
END;

-- SQLite knows no owner of a table besides the service, so nothing is archived there.

CREATE TRIGGER agent_access_mark_refused BEFORE INSERT ON agent_access_archivemark
BEGIN
    SELECT RAISE(ABORT, 'audit events are never archived on SQLite');
END;
