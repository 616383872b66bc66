-- Run once by an administrator, in the database that the store shall live in:
--
--   createdb sandlot
--   psql --dbname sandlot --file roles.sql
--
-- Then set passwords in psql, where they reach no file: \password sandlot_writer

-- Applies. It owns the schema, so it also makes the tables of later versions.
CREATE ROLE sandlot_writer LOGIN;
CREATE SCHEMA sandlot AUTHORIZATION sandlot_writer;

-- Plans, for example of pull requests. It reads, also what the writer makes later.
CREATE ROLE sandlot_reader LOGIN;
GRANT USAGE ON SCHEMA sandlot TO sandlot_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE sandlot_writer IN SCHEMA sandlot GRANT SELECT ON TABLES TO sandlot_reader;
