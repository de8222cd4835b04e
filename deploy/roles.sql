-- Run it on an empty database with psql, as a superuser or as an owner who may create roles, with
-- both passwords in the environment; also on the empty database that a backup is restored into.
-- invoicing_owner runs migrations. invoicing_service reads and writes rows and owns nothing, so it can
-- neither empty a table nor drop what guards issued documents and the audit.
\set ON_ERROR_STOP on
\set owner_password ''
\set service_password ''
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
SELECT '' IN (:'owner_password', :'service_password') AS incomplete \gset
\if :incomplete
DO $$ BEGIN RAISE EXCEPTION 'Set OWNER_PASSWORD and SERVICE_PASSWORD in the environment.'; END $$;
\endif
SELECT current_database() AS database \gset

SELECT format('CREATE ROLE %I', role) FROM unnest(ARRAY['invoicing_owner', 'invoicing_service']) role
    WHERE role NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE invoicing_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE invoicing_service LOGIN PASSWORD :'service_password';

-- Without superuser rights one can give a database only to a role that one is a member of.
SELECT 'GRANT invoicing_owner TO CURRENT_USER'
    WHERE NOT pg_has_role('invoicing_owner', 'USAGE') \gexec
ALTER DATABASE :"database" OWNER TO invoicing_owner;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO invoicing_service;
GRANT USAGE ON SCHEMA public TO invoicing_service;
-- A server that was upgraded from before 15 lets everybody make tables and functions.
GRANT CREATE ON SCHEMA public TO invoicing_owner;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- For every table that the owner's migrations will make.
ALTER DEFAULT PRIVILEGES FOR ROLE invoicing_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO invoicing_service;
ALTER DEFAULT PRIVILEGES FOR ROLE invoicing_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO invoicing_service;
