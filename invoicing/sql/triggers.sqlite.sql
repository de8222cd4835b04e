-- An issued document, its lines and its tax rows stay as they were issued.
--
-- REPLACE removes the rows it conflicts with and fires no delete trigger for them, so an insert
-- or update that would push an issued row out is refused as well, be it by the hidden rowid that
-- each of these tables has.

CREATE TRIGGER invoices_document_issued_insert BEFORE INSERT ON invoices_document
WHEN EXISTS (
    SELECT 1 FROM invoices_document
    WHERE status = 'issued' AND (rowid = NEW.rowid OR id = NEW.id
        OR draft_code = NEW.draft_code OR number = NEW.number
        OR (series_id = NEW.series_id AND series_value = NEW.series_value))
)
BEGIN
    SELECT RAISE(ABORT, 'An issued document cannot be replaced.');
END;

CREATE TRIGGER invoices_document_issued_update BEFORE UPDATE ON invoices_document
WHEN OLD.status = 'issued' OR EXISTS (
    SELECT 1 FROM invoices_document
    WHERE status = 'issued' AND (rowid = NEW.rowid OR id = NEW.id
        OR draft_code = NEW.draft_code OR number = NEW.number
        OR (series_id = NEW.series_id AND series_value = NEW.series_value))
)
BEGIN
    SELECT RAISE(ABORT, 'An issued document cannot be changed.');
END;

CREATE TRIGGER invoices_document_issued_delete BEFORE DELETE ON invoices_document
WHEN OLD.status = 'issued'
BEGIN
    SELECT RAISE(ABORT, 'An issued document cannot be deleted.');
END;

FOR EACH OF invoices_line 'line', invoices_taxrow 'tax row':

CREATE TRIGGER {table}_issued_insert BEFORE INSERT ON {table}
WHEN EXISTS (
    SELECT 1 FROM invoices_document
    WHERE status = 'issued' AND id IN (
        NEW.document_id,
        (SELECT document_id FROM {table} WHERE rowid = NEW.rowid),
        (SELECT document_id FROM {table} WHERE id = NEW.id)
    )
)
BEGIN
    SELECT RAISE(ABORT, 'An issued document gets no new {noun}.');
END;

CREATE TRIGGER {table}_issued_update BEFORE UPDATE ON {table}
WHEN EXISTS (
    SELECT 1 FROM invoices_document
    WHERE status = 'issued' AND id IN (
        OLD.document_id,
        NEW.document_id,
        (SELECT document_id FROM {table} WHERE rowid = NEW.rowid),
        (SELECT document_id FROM {table} WHERE id = NEW.id)
    )
)
BEGIN
    SELECT RAISE(ABORT, 'An issued document changes no {noun}.');
END;

CREATE TRIGGER {table}_issued_delete BEFORE DELETE ON {table}
WHEN EXISTS (
    SELECT 1 FROM invoices_document
    WHERE status = 'issued' AND id IN (
        OLD.document_id
    )
)
BEGIN
    SELECT RAISE(ABORT, 'An issued document loses no {noun}.');
END;

-- No correction is issued above what the earlier ones left of an invoice.

CREATE TRIGGER invoices_document_within_insert BEFORE INSERT ON invoices_document
WHEN NEW.status = 'issued' AND NEW.corrects_id IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'A correction is issued from its draft.');
END;

-- Else a correction could be issued as a credit note that no invoice counts.
CREATE TRIGGER invoices_document_corrects BEFORE UPDATE ON invoices_document
WHEN OLD.corrects_id IS NOT NULL AND NEW.corrects_id IS NULL
BEGIN
    SELECT RAISE(ABORT, 'A correction keeps its invoice.');
END;

CREATE TRIGGER invoices_document_within BEFORE UPDATE ON invoices_document
WHEN NEW.status = 'issued' AND NEW.corrects_id IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'A correction corrects an issued invoice, in its currency and of its customer.')
    WHERE NOT EXISTS (
        SELECT 1 FROM invoices_document AS original
        WHERE original.id = NEW.corrects_id AND original.status = 'issued' AND original.type = 'invoice'
            AND original.customer_id = NEW.customer_id
            AND original.currency_code = NEW.currency_code AND original.minor_unit = NEW.minor_unit
    );
    SELECT RAISE(ABORT, 'Each line of a correction corrects a line of its invoice.')
    WHERE EXISTS (
        SELECT 1 FROM invoices_line AS own
        LEFT JOIN invoices_line AS corrected ON corrected.id = own.corrects_id
        WHERE own.document_id = NEW.id AND (
            corrected.document_id IS NOT NEW.corrects_id
            OR corrected.tax_rate_id IS NOT own.tax_rate_id
        )
    );
    SELECT RAISE(ABORT, 'A correction takes back no more than is left of its invoice.')
    WHERE EXISTS (
        SELECT 1 FROM invoices_document AS document
        JOIN invoices_line AS own ON own.document_id = document.id
        JOIN invoices_line AS corrected ON corrected.id = own.corrects_id
        WHERE document.corrects_id = NEW.corrects_id AND (document.status = 'issued' OR document.id = NEW.id)
        GROUP BY corrected.id
        HAVING sum(own.quantity_ten_thousandths) > corrected.quantity_ten_thousandths
            OR sum(own.discount_amount) > corrected.discount_amount
            OR sum(own.net_amount) > corrected.net_amount
    ) OR EXISTS (
        SELECT 1 FROM invoices_document AS document
        JOIN invoices_taxrow AS own ON own.document_id = document.id
        LEFT JOIN invoices_taxrow AS corrected
            ON corrected.document_id = NEW.corrects_id AND corrected.tax_rate_id = own.tax_rate_id
        WHERE document.corrects_id = NEW.corrects_id AND (document.status = 'issued' OR document.id = NEW.id)
        GROUP BY own.tax_rate_id, corrected.id
        HAVING corrected.id IS NULL
            OR sum(own.taxable_amount) > corrected.taxable_amount
            OR sum(own.tax_amount) > corrected.tax_amount
    ) OR (
        SELECT COALESCE(sum(document.national_tax_total), 0) FROM invoices_document AS document
        WHERE document.corrects_id = NEW.corrects_id AND document.status = 'issued'
    ) + COALESCE(NEW.national_tax_total, 0) > (
        SELECT COALESCE(national_tax_total, 0) FROM invoices_document WHERE id = NEW.corrects_id
    );
    SELECT RAISE(ABORT, 'The totals of a correction are the sums of its lines and tax rows.')
    WHERE (NEW.net_total, NEW.discount_total) != (
        SELECT COALESCE(sum(net_amount), 0), COALESCE(sum(discount_amount), 0)
        FROM invoices_line WHERE document_id = NEW.id
    ) OR NEW.tax_total != (
        SELECT COALESCE(sum(tax_amount), 0) FROM invoices_taxrow WHERE document_id = NEW.id
    );
END;

-- A person is deactivated, never deleted: the audit and the books go on naming them.

CREATE TRIGGER invoices_user_kept_insert BEFORE INSERT ON invoices_user
WHEN EXISTS (
    SELECT 1 FROM invoices_user WHERE rowid = NEW.rowid OR id = NEW.id OR email = NEW.email
)
BEGIN
    SELECT RAISE(ABORT, 'UNIQUE constraint failed: a person cannot be replaced.');
END;

CREATE TRIGGER invoices_user_kept_update BEFORE UPDATE ON invoices_user
WHEN EXISTS (
    SELECT 1 FROM invoices_user
    WHERE id != OLD.id AND (rowid = NEW.rowid OR id = NEW.id OR email = NEW.email)
)
BEGIN
    SELECT RAISE(ABORT, 'UNIQUE constraint failed: a person cannot be replaced.');
END;

CREATE TRIGGER invoices_user_kept_delete BEFORE DELETE ON invoices_user
BEGIN
    SELECT RAISE(ABORT, 'A person cannot be deleted.');
END;

-- Whatever ends a person's sessions raises their revision, whoever writes it: a service, a shell, another
-- program. It never falls, as a save of what was read before would make it. The password's hash may be made
-- anew, which is told by its own count, and ends nothing.

CREATE TRIGGER invoices_user_sessions AFTER UPDATE ON invoices_user
WHEN NEW.session_revision <= OLD.session_revision
    AND (
        NEW.session_revision < OLD.session_revision
        OR (OLD.is_active, OLD.is_guest, OLD.is_staff, OLD.is_superuser)
            IS NOT (NEW.is_active, NEW.is_guest, NEW.is_staff, NEW.is_superuser)
        OR (NEW.password != OLD.password AND NEW.password_upgrades != OLD.password_upgrades + 1)
    )
BEGIN
    UPDATE invoices_user SET session_revision = OLD.session_revision + (
        (OLD.is_active, OLD.is_guest, OLD.is_staff, OLD.is_superuser)
            IS NOT (NEW.is_active, NEW.is_guest, NEW.is_staff, NEW.is_superuser)
        OR (NEW.password != OLD.password AND NEW.password_upgrades != OLD.password_upgrades + 1)
    ) WHERE id = NEW.id;
END;

CREATE TRIGGER invoices_user_upgrades AFTER UPDATE ON invoices_user
WHEN NEW.password_upgrades < OLD.password_upgrades
BEGIN
    UPDATE invoices_user SET password_upgrades = OLD.password_upgrades WHERE id = NEW.id;
END;

-- Once a document bears it, a number series goes forward one by one, so that no number is given out twice or
-- left out; before, its start is chosen. It is never deleted.

CREATE TRIGGER invoices_numberseries_kept_insert BEFORE INSERT ON invoices_numberseries
WHEN EXISTS (
    SELECT 1 FROM invoices_numberseries
    WHERE rowid = NEW.rowid OR id = NEW.id OR (type = NEW.type AND year = NEW.year)
)
BEGIN
    SELECT RAISE(ABORT, 'UNIQUE constraint failed: a number series cannot be replaced.');
END;

CREATE TRIGGER invoices_numberseries_forward BEFORE UPDATE ON invoices_numberseries
WHEN (OLD.rowid, OLD.id, OLD.type, OLD.year) IS NOT (NEW.rowid, NEW.id, NEW.type, NEW.year)
    OR (
        NEW.last_value != OLD.last_value + 1
        AND EXISTS (SELECT 1 FROM invoices_document WHERE series_id = OLD.id)
    )
BEGIN
    SELECT RAISE(ABORT, 'A number series only goes forward, one by one.');
END;

CREATE TRIGGER invoices_numberseries_kept_delete BEFORE DELETE ON invoices_numberseries
BEGIN
    SELECT RAISE(ABORT, 'A number series cannot be deleted.');
END;

-- An original, which is a file of an issued document, is only ever added.

CREATE TRIGGER invoices_original_issued BEFORE INSERT ON invoices_original
WHEN NOT EXISTS (SELECT 1 FROM invoices_document WHERE id = NEW.document_id AND status = 'issued')
BEGIN
    SELECT RAISE(ABORT, 'Only an issued document has an original.');
END;

CREATE TRIGGER invoices_original_kept_insert BEFORE INSERT ON invoices_original
WHEN EXISTS (
    SELECT 1 FROM invoices_original
    WHERE rowid = NEW.rowid OR id = NEW.id OR (document_id = NEW.document_id AND kind = NEW.kind)
)
BEGIN
    SELECT RAISE(ABORT, 'An original cannot be replaced.');
END;

CREATE TRIGGER invoices_original_kept_update BEFORE UPDATE ON invoices_original
BEGIN
    SELECT RAISE(ABORT, 'An original cannot be changed.');
END;

CREATE TRIGGER invoices_original_kept_delete BEFORE DELETE ON invoices_original
BEGIN
    SELECT RAISE(ABORT, 'An original cannot be deleted.');
END;
