-- Sessions, their lines, and the tenants that own them.
--
-- Every key begins with the tenant, so that no constraint compares the rows of two tenants: an error cannot reveal that a
-- row of another tenant exists.

CREATE TABLE offshoot.tenant (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

-- The login roles of each tenant.
CREATE TABLE offshoot.member (
    role name PRIMARY KEY,
    tenant integer NOT NULL REFERENCES offshoot.tenant
);

-- The tenant of the connection. It follows from the role that logged in, which no client can change; a setting could be
-- changed with SET.
CREATE FUNCTION offshoot.current_tenant() RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS 'SELECT tenant FROM offshoot.member WHERE role = session_user';

CREATE FUNCTION offshoot.current_tenant_name() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS 'SELECT name FROM offshoot.tenant WHERE id = offshoot.current_tenant()';

CREATE TABLE offshoot.session (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant() REFERENCES offshoot.tenant,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The last part of the session's address.
    name text NOT NULL,
    -- The number of bytes: the position of the next line.
    length bigint NOT NULL,
    -- Counts how often the lines were replaced, for example by a migration to a newer version of the format.
    generation integer NOT NULL DEFAULT 0,
    created timestamptz NOT NULL DEFAULT now(),
    changed timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
);

-- One row per line, with the bytes as in a file. They are not stored as JSON, because jsonb reorders keys, drops duplicates
-- and refuses \u0000 and lone surrogates.
CREATE TABLE offshoot.line (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant(),
    session uuid NOT NULL,
    -- The number of bytes before the line.
    position bigint NOT NULL,
    -- The ids of the entry and of its parent; an id may contain any byte.
    entry bytea,
    parent bytea,
    line bytea NOT NULL,
    PRIMARY KEY (tenant, session, position),
    FOREIGN KEY (tenant, session) REFERENCES offshoot.session ON DELETE CASCADE
);

-- An index row has a maximum size; the ids that programs make are short.
CREATE INDEX line_entry ON offshoot.line (tenant, session, entry) WHERE octet_length(entry) <= 200;

CREATE INDEX session_changed ON offshoot.session (tenant, changed DESC);

ALTER TABLE offshoot.session ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE offshoot.line ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE offshoot.tenant ENABLE ROW LEVEL SECURITY;
ALTER TABLE offshoot.member ENABLE ROW LEVEL SECURITY;

-- The subquery is evaluated once per statement instead of once per row.
CREATE POLICY tenant ON offshoot.session
    USING (tenant = (SELECT offshoot.current_tenant())) WITH CHECK (tenant = (SELECT offshoot.current_tenant()));
CREATE POLICY tenant ON offshoot.line
    USING (tenant = (SELECT offshoot.current_tenant())) WITH CHECK (tenant = (SELECT offshoot.current_tenant()));

GRANT USAGE ON SCHEMA offshoot TO offshoot_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON offshoot.session, offshoot.line TO offshoot_app;
GRANT SELECT ON offshoot.schema_version TO offshoot_app;
