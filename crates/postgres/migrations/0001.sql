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
-- changed with SET. Every name is qualified, so the search path of the client does not matter. A function in PL/pgSQL keeps its
-- plan; one in SQL would be planned again in every statement.
CREATE FUNCTION offshoot.current_tenant() RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    AS 'BEGIN RETURN (SELECT tenant FROM offshoot.member WHERE role OPERATOR(pg_catalog.=) session_user); END';

-- The same for policies: a statement reads a view faster than it calls a function. Its names are bound when it is created.
CREATE VIEW offshoot.own_tenant AS SELECT tenant FROM offshoot.member WHERE role = session_user;

CREATE FUNCTION offshoot.current_tenant_name() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    AS 'SELECT name FROM offshoot.tenant WHERE id = offshoot.current_tenant()';

CREATE TABLE offshoot.session (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant() REFERENCES offshoot.tenant,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The last part of the session's address.
    name text NOT NULL,
    -- The lines of the session. Replacing all lines gives it another log.
    log uuid NOT NULL DEFAULT gen_random_uuid(),
    -- The number of bytes: the position of the next line.
    length bigint NOT NULL DEFAULT 0,
    created timestamptz NOT NULL DEFAULT now(),
    changed timestamptz NOT NULL DEFAULT now(),
    -- The row of the session in lists, as the engine encodes it; null if it has to be made from the lines.
    summary bytea,
    -- False if the branches of the summary have to be counted again.
    is_counted boolean NOT NULL DEFAULT false,
    -- The last entry, if its branch ends there.
    tip bytea,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
)
-- Every append updates the row. No index has a column that it changes, and the page has room for a new version of the row, so
-- the update touches one page only.
WITH (fillfactor = 50);

-- One row per line, with the bytes as in a file. They are not stored as JSON, because jsonb reorders keys, drops duplicates
-- and refuses \u0000 and lone surrogates.
--
-- A line belongs to a log rather than to a session, because forks share lines and outlive the session they came from. The tenant
-- comes from the row of the session; a foreign key would lock the row of the tenant in every append.
CREATE TABLE offshoot.line (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant(),
    log uuid NOT NULL,
    -- The number of bytes before the line.
    position bigint NOT NULL,
    -- The number of bytes of the line, with its line feed and its large values.
    length integer NOT NULL,
    -- The id of the entry, or its SHA-256 if it is longer than 200 bytes: an id may contain any byte.
    entry bytea,
    -- The parent of the entry, in the same form.
    parent bytea,
    -- The bytes that an index needs; null if these are all bytes of the line.
    head bytea,
    -- The bytes without large values.
    line bytea NOT NULL,
    -- The large values, and where in the line each begins.
    blobs bytea[],
    blob_positions integer[],
    PRIMARY KEY (tenant, log, position)
);

CREATE INDEX line_entry ON offshoot.line (tenant, log, entry) WHERE entry IS NOT NULL;
CREATE INDEX line_blobs ON offshoot.line USING gin (blobs) WHERE blobs IS NOT NULL;

-- The heads of several hundred lines in one row, so that a session is opened without reading its lines. Packs of a log follow
-- one another from its first line on; the last lines are in no pack yet.
CREATE TABLE offshoot.pack (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant(),
    log uuid NOT NULL,
    -- The position of the first line, and the one behind the last line.
    position bigint NOT NULL,
    stop bigint NOT NULL,
    -- For each line its position (8 bytes), its length (4), the length of its head (4), and its head.
    heads bytea NOT NULL,
    PRIMARY KEY (tenant, log, position)
);

-- Reading them must not wait for decompression.
ALTER TABLE offshoot.pack ALTER heads SET STORAGE EXTERNAL;

-- Lines that a fork shares with another session.
CREATE TABLE offshoot.part (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant(),
    session uuid NOT NULL,
    position bigint NOT NULL,
    length bigint NOT NULL,
    source_log uuid NOT NULL,
    source_position bigint NOT NULL,
    PRIMARY KEY (tenant, session, position),
    FOREIGN KEY (tenant, session) REFERENCES offshoot.session ON DELETE CASCADE
);

CREATE INDEX part_source ON offshoot.part (tenant, source_log);

-- Large values, such as images, by the SHA-256 of their bytes. Sessions of a tenant share them.
CREATE TABLE offshoot.blob (
    tenant integer NOT NULL DEFAULT offshoot.current_tenant() REFERENCES offshoot.tenant,
    hash bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, hash)
);

-- Tables are forced to apply the policy to their owner, too. The subquery is evaluated once per statement instead of once per
-- row.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['session', 'line', 'pack', 'part', 'blob'] LOOP
        EXECUTE format('ALTER TABLE offshoot.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON offshoot.%I USING (tenant = (SELECT own.tenant FROM offshoot.own_tenant own)) '
            'WITH CHECK (tenant = (SELECT own.tenant FROM offshoot.own_tenant own))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON offshoot.%I TO offshoot_app', name);
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA offshoot TO offshoot_app;
GRANT SELECT ON offshoot.schema_version, offshoot.own_tenant TO offshoot_app;
