-- Two roles without login: one owns the tables, one may use them. Roles belong to the whole server, so another database may
-- have created them already.
DO $$
BEGIN
    BEGIN
        CREATE ROLE offshoot_owner NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
    BEGIN
        CREATE ROLE offshoot_app NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
    EXECUTE format('GRANT offshoot_owner, offshoot_app TO %I', current_user);
END
$$;
CREATE SCHEMA offshoot AUTHORIZATION offshoot_owner;
SET LOCAL ROLE offshoot_owner;
CREATE TABLE offshoot.schema_version (
    version integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);
