-- Each function finds operators and functions in pg_catalog only, and names the schema of its tables: an
-- operator or a temporary table that somebody else has made cannot stand in the place of these.

-- An issued document, its lines and its tax rows stay as they were issued.

CREATE FUNCTION invoices_keep_issued_document() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status = 'issued' THEN
        RAISE EXCEPTION 'An issued document cannot be changed or deleted.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    -- Else a correction could be issued as a credit note that no invoice counts.
    IF TG_OP = 'UPDATE' AND OLD.corrects_id IS NOT NULL AND NEW.corrects_id IS NULL THEN
        RAISE EXCEPTION 'A correction keeps its invoice.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END;
$$;

-- Runs once per statement: once per row took longer than all else in writing a draft. It locks the
-- documents whose status it reads, so that none of them can be issued at the same time. Each is read
-- by itself: for a list of any length PostgreSQL plans anew every time, or keeps a plan that reads
-- the whole table, made while that was small.
CREATE FUNCTION invoices_keep_issued_part() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    touched uuid[];
    pk uuid;
BEGIN
    IF TG_OP = 'INSERT' THEN
        touched := ARRAY(SELECT DISTINCT document_id FROM added ORDER BY document_id);
    ELSIF TG_OP = 'DELETE' THEN
        touched := ARRAY(SELECT DISTINCT document_id FROM removed ORDER BY document_id);
    ELSE
        touched := ARRAY(
            SELECT document_id FROM added UNION SELECT document_id FROM removed ORDER BY document_id
        );
    END IF;
    FOREACH pk IN ARRAY touched LOOP
        IF (SELECT status FROM {schema}.invoices_document WHERE id = pk FOR SHARE) = 'issued' THEN
            RAISE EXCEPTION 'The lines and tax rows of an issued document cannot be changed.'
                USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NULL;
END;
$$;

CREATE FUNCTION invoices_keep_issued_tables() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM {schema}.invoices_document WHERE status = 'issued') THEN
        RAISE EXCEPTION 'Tables that hold issued documents cannot be emptied.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END;
$$;

CREATE TRIGGER invoices_document_issued BEFORE DELETE OR UPDATE ON invoices_document FOR EACH ROW EXECUTE FUNCTION invoices_keep_issued_document();

CREATE TRIGGER invoices_document_truncate BEFORE TRUNCATE ON invoices_document FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_tables();

CREATE TRIGGER invoices_line_issued_insert AFTER INSERT ON invoices_line REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_line_issued_update AFTER UPDATE ON invoices_line REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_line_issued_delete AFTER DELETE ON invoices_line REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_line_truncate BEFORE TRUNCATE ON invoices_line FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_tables();

CREATE TRIGGER invoices_taxrow_issued_insert AFTER INSERT ON invoices_taxrow REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_taxrow_issued_update AFTER UPDATE ON invoices_taxrow REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_taxrow_issued_delete AFTER DELETE ON invoices_taxrow REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_part();

CREATE TRIGGER invoices_taxrow_truncate BEFORE TRUNCATE ON invoices_taxrow FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_issued_tables();

-- No correction is issued above what the earlier ones left of an invoice. The invoice's row is locked
-- before these are counted, and each statement here sees what others have committed while it waited. So it
-- would not in the snapshot of a stricter transaction, which is refused.

CREATE FUNCTION invoices_keep_within_corrected() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    original {schema}.invoices_document;
BEGIN
    IF TG_OP = 'INSERT' OR current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'A correction is issued from its draft, in a transaction that reads what is committed.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    SELECT * INTO original FROM {schema}.invoices_document WHERE id = NEW.corrects_id FOR NO KEY UPDATE;
    IF (original.status, original.type, original.customer_id, original.currency_code, original.minor_unit)
        IS DISTINCT FROM ('issued', 'invoice', NEW.customer_id, NEW.currency_code, NEW.minor_unit)
    THEN
        RAISE EXCEPTION 'A correction corrects an issued invoice, in its currency and of its customer.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (
        SELECT FROM {schema}.invoices_line AS own
        LEFT JOIN {schema}.invoices_line AS corrected ON corrected.id = own.corrects_id
        WHERE own.document_id = NEW.id AND (
            corrected.document_id IS DISTINCT FROM NEW.corrects_id
            OR corrected.tax_rate_id IS DISTINCT FROM own.tax_rate_id
        )
    ) THEN
        RAISE EXCEPTION 'Each line of a correction corrects a line of its invoice.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (
        SELECT FROM {schema}.invoices_document AS document
        JOIN {schema}.invoices_line AS own ON own.document_id = document.id
        JOIN {schema}.invoices_line AS corrected ON corrected.id = own.corrects_id
        WHERE document.corrects_id = NEW.corrects_id AND (document.status = 'issued' OR document.id = NEW.id)
        GROUP BY corrected.id
        HAVING sum(own.quantity_ten_thousandths) > corrected.quantity_ten_thousandths
            OR sum(own.discount_amount) > corrected.discount_amount
            OR sum(own.net_amount) > corrected.net_amount
    ) OR EXISTS (
        SELECT FROM {schema}.invoices_document AS document
        JOIN {schema}.invoices_taxrow AS own ON own.document_id = document.id
        LEFT JOIN {schema}.invoices_taxrow AS corrected
            ON corrected.document_id = NEW.corrects_id AND corrected.tax_rate_id = own.tax_rate_id
        WHERE document.corrects_id = NEW.corrects_id AND (document.status = 'issued' OR document.id = NEW.id)
        GROUP BY own.tax_rate_id, corrected.id
        HAVING corrected.id IS NULL
            OR sum(own.taxable_amount) > corrected.taxable_amount
            OR sum(own.tax_amount) > corrected.tax_amount
    ) OR (
        SELECT COALESCE(sum(document.national_tax_total), 0) FROM {schema}.invoices_document AS document
        WHERE document.corrects_id = NEW.corrects_id AND document.status = 'issued'
    ) + COALESCE(NEW.national_tax_total, 0) > COALESCE(original.national_tax_total, 0) THEN
        RAISE EXCEPTION 'A correction takes back no more than is left of its invoice.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF (NEW.net_total, NEW.discount_total) <> (
        SELECT COALESCE(sum(net_amount), 0), COALESCE(sum(discount_amount), 0)
        FROM {schema}.invoices_line WHERE document_id = NEW.id
    ) OR NEW.tax_total <> (
        SELECT COALESCE(sum(tax_amount), 0) FROM {schema}.invoices_taxrow WHERE document_id = NEW.id
    ) THEN
        RAISE EXCEPTION 'The totals of a correction are the sums of its lines and tax rows.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END;
$$;

CREATE TRIGGER invoices_document_within BEFORE INSERT OR UPDATE ON invoices_document FOR EACH ROW WHEN (new.status::text = 'issued'::text AND new.corrects_id IS NOT NULL) EXECUTE FUNCTION invoices_keep_within_corrected();

-- A person is deactivated, never deleted: the audit and the books go on naming them.

CREATE FUNCTION invoices_keep_person() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' OR EXISTS (SELECT 1 FROM {schema}.invoices_user) THEN
        RAISE EXCEPTION 'A person cannot be deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END;
$$;

CREATE TRIGGER invoices_user_kept BEFORE DELETE ON invoices_user FOR EACH ROW EXECUTE FUNCTION invoices_keep_person();

CREATE TRIGGER invoices_user_truncate BEFORE TRUNCATE ON invoices_user FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_person();

-- Whatever ends a person's sessions raises their revision, whoever writes it: a service, a shell, another
-- program. It never falls, as a save of what was read before would make it. The password's hash may be made
-- anew, which is told by its own count, and ends nothing.

CREATE FUNCTION invoices_raise_session_revision() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    least integer := OLD.session_revision;
BEGIN
    IF (OLD.is_active, OLD.is_guest, OLD.is_staff, OLD.is_superuser)
        IS DISTINCT FROM (NEW.is_active, NEW.is_guest, NEW.is_staff, NEW.is_superuser)
        OR (NEW.password <> OLD.password AND NEW.password_upgrades <> OLD.password_upgrades + 1)
    THEN
        least := OLD.session_revision + 1;
    END IF;
    NEW.session_revision := GREATEST(NEW.session_revision, least);
    NEW.password_upgrades := GREATEST(NEW.password_upgrades, OLD.password_upgrades);
    RETURN NEW;
END;
$$;

CREATE TRIGGER invoices_user_sessions BEFORE UPDATE ON invoices_user FOR EACH ROW EXECUTE FUNCTION invoices_raise_session_revision();

-- Once a document bears it, a number series goes forward one by one, so that no number is given out twice or
-- left out; before, its start is chosen. It is never deleted.

CREATE FUNCTION invoices_keep_series() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.id, OLD.type, OLD.year) IS DISTINCT FROM (NEW.id, NEW.type, NEW.year)
            OR (
                NEW.last_value <> OLD.last_value + 1
                AND EXISTS (SELECT 1 FROM {schema}.invoices_document WHERE series_id = OLD.id)
            )
        THEN
            RAISE EXCEPTION 'A number series only goes forward, one by one.' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' OR EXISTS (SELECT 1 FROM {schema}.invoices_numberseries) THEN
        RAISE EXCEPTION 'A number series cannot be deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END;
$$;

CREATE TRIGGER invoices_numberseries_kept BEFORE DELETE OR UPDATE ON invoices_numberseries FOR EACH ROW EXECUTE FUNCTION invoices_keep_series();

CREATE TRIGGER invoices_numberseries_truncate BEFORE TRUNCATE ON invoices_numberseries FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_series();

-- An original, which is a file of an issued document, is only ever added.

CREATE FUNCTION invoices_keep_original() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF EXISTS (SELECT 1 FROM {schema}.invoices_document WHERE id = NEW.document_id AND status = 'issued') THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'Only an issued document has an original.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP <> 'TRUNCATE' OR EXISTS (SELECT 1 FROM {schema}.invoices_original) THEN
        RAISE EXCEPTION 'An original cannot be changed or deleted.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END;
$$;

CREATE TRIGGER invoices_original_kept BEFORE INSERT OR DELETE OR UPDATE ON invoices_original FOR EACH ROW EXECUTE FUNCTION invoices_keep_original();

CREATE TRIGGER invoices_original_truncate BEFORE TRUNCATE ON invoices_original FOR EACH STATEMENT EXECUTE FUNCTION invoices_keep_original();
