// Package sqlite is the embedded store: one SQLite database and a folder of lock files.
//
//	<Dir>/sandlot.db        the records, 0600, in WAL mode
//	<Dir>/sandlot.db.guard  tells readers whether a writer may change the database, never removed
//	<Dir>/locks/*.lock      one file for each lock key, never removed
//
// # How a read leaves no trace
//
// A reader of a WAL database normally makes a -wal and a -shm file, and one that opened the
// database read-only cannot remove them again. This package avoids that with the guard, a
// kernel file lock:
//
//   - A writer holds the guard exclusively while it opens the database, until its -wal file
//     exists, and again while it closes it. In between, its one connection keeps the -wal file
//     in place, whatever other processes do.
//   - A reader holds the guard shared for its few milliseconds. When there is no -wal file then,
//     no writer has the database open and none can open it until the reader is done: the file
//     cannot change, which is exactly what SQLite's immutable=1 asks for, and that makes no file.
//     When there is a -wal file, a writer is at work or was killed: the reader opens the database
//     with mode=ro and uses the files that are there.
//
// When there is no guard file (somebody copied the database alone) readers open it with mode=ro.
// Only where SQLite cannot make its files, in a directory that is not writable, and there is no
// -wal file whose content would be missed, do they fall back to immutable=1 without a guard.
//
// Tools other than this package do not know the guard. Changing the database with one while
// Terraform runs is not safe.
package sqlite
