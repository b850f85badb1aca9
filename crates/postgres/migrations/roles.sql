-- Two roles without login: one owns the tables, one may use them. Roles belong to the whole server, so another database may
-- have created them already.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'offshoot_owner') THEN
        CREATE ROLE offshoot_owner NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'offshoot_app') THEN
        CREATE ROLE offshoot_app NOLOGIN;
    END IF;
    EXECUTE format('GRANT offshoot_owner, offshoot_app TO %I', current_user);
END
$$;
CREATE SCHEMA offshoot AUTHORIZATION offshoot_owner;
SET LOCAL ROLE offshoot_owner;
CREATE TABLE offshoot.schema_version (
    version integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);
