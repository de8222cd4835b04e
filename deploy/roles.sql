-- For an empty database, by a superuser, with psql and both passwords in the environment; again for
-- the empty database that a backup will be restored into. The owner migrates. The service reads and
-- writes rows and owns nothing, so it can neither empty a table nor drop what guards issued
-- documents and the audit.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
SELECT current_database() AS database \gset

SELECT format('CREATE ROLE %I', role) FROM unnest(ARRAY['invoicing_owner', 'invoicing_service']) role
    WHERE role NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE invoicing_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE invoicing_service LOGIN PASSWORD :'service_password';

ALTER DATABASE :"database" OWNER TO invoicing_owner;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO invoicing_service;
GRANT USAGE ON SCHEMA public TO invoicing_service;

-- For every table that the owner's migrations will make.
ALTER DEFAULT PRIVILEGES FOR ROLE invoicing_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO invoicing_service;
ALTER DEFAULT PRIVILEGES FOR ROLE invoicing_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO invoicing_service;
