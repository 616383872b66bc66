// Package postgres is the store that teams and CI runners share: one PostgreSQL database. Its
// tables live in a schema of their own, sandlot, which the first write makes.
//
// # Roles
//
// The role of the first write needs CREATE on the database, unless somebody made the schema for it
// (CREATE SCHEMA sandlot AUTHORIZATION role). It owns the tables, so it, or a member of it, must
// also make the first write of a later version that adds some. Reads change nothing and need only
// USAGE on the schema and SELECT on its tables.
//
// # Connections
//
// A process has one working connection, which is closed when it was idle for a few seconds, and one
// more for each lock that it holds or waits for. No prepared statements, session settings or
// session locks are used, so that everything works behind a pooler that hands out a server
// connection for each transaction.
//
// # Locks
//
// A lock is an advisory one, held by a transaction that stays open on a connection of its own: a
// transaction keeps its server connection behind a pooler too, and the server frees the lock when
// that connection ends, however the holder dies. Waiting is polling: a waiter that blocked in a
// transaction would keep a server connection from the holder behind a pooler.
//
// A connection can also break while its holder lives. So whoever takes a lock writes a new token to
// the table claims. Each write under a lock first proves that the lock's connection is alive and
// then, in its own transaction, that the token is still its own, holding the row until it commits:
// the next holder cannot write its token before.
package postgres
