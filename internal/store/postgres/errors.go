package postgres

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// The states of the server that mean something to us.
const (
	stateTooManyConnections = "53300"
	stateDiskFull           = "53100"
	stateUniqueViolation    = "23505"
	stateUndefinedTable     = "42P01"
	stateUndefinedColumn    = "42703"
	stateInvalidSchema      = "3F000"
	stateNoPrivilege        = "42501"
	stateReadOnly           = "25006"
	stateBadPassword        = "28P01"
	stateBadLogin           = "28000"
	stateNoDatabase         = "3D000"
	stateQueryCanceled      = "57014"
)

// access tells what was tried when an error came up: the same answer of the server means "cannot be
// written" to a writer and "may not be read" to a reader.
type access bool

const (
	reading access = false
	writing access = true
)

const (
	nothingWritten    = "Nothing was written. "
	unavailableRemedy = nothingWritten + "Check that the server runs and can be reached from here, and apply again."
	unknownRemedy     = "The connection broke during the commit. The next plan finds out; apply again when the server is back."
	timeoutRemedy     = nothingWritten + "Raise the statement_timeout of the role or the database, and apply again."
	certificateRemedy = "Set sslrootcert in postgres_url to a file with the authority of the server's certificate, and use the host name that it is made for."
	fullSlotsRemedy   = "All connections of the server are taken. Wait until others are done, raise max_connections, or put a pooler in front of it."
	lockLostRemedy    = nothingWritten + "Somebody else may have gone on with the object since; plan and apply again."
	corruptRemedy     = "Restore the schema sandlot from a backup, or drop it: the provider then rebuilds records from state and from the marks on the objects."
	newerRemedy       = "Upgrade the provider to the version that wrote the store, or a later one."
	fullRemedy        = "Free space on the server's disk and apply again."
	schemaRemedy      = "Let an administrator run once: CREATE SCHEMA sandlot AUTHORIZATION %[1]s; or, for a store that is there: " +
		"GRANT USAGE ON SCHEMA sandlot TO %[1]s; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sandlot TO %[1]s; " +
		"A new version of the provider that adds tables must first be applied by the role that owns the schema."
	standbyRemedy    = "Point postgres_url at the primary server, with a role that may write."
	unreadableRemedy = "Let an administrator run: GRANT USAGE ON SCHEMA sandlot TO %[1]s; GRANT SELECT ON ALL TABLES IN SCHEMA sandlot TO %[1]s; and plan again."
	loginRemedy      = "Correct user and password in postgres_url."
	databaseRemedy   = "Create the database, or correct its name in postgres_url."
)

var (
	errUnreadable = errors.New("the store may not be read")
	errLogin      = errors.New("the server refuses the login")
	errNoDatabase = errors.New("there is no such database")
)

// fail turns err into one of the store's errors and adds where it happened and what to do. What the
// driver says is taken over as text alone: its errors hold the whole configuration.
func (s *Store) fail(ctx context.Context, operation string, how access, err error) error {
	if err == nil {
		return nil
	}
	to, parseErr := s.target()
	if parseErr != nil {
		return fmt.Errorf("%s: %w", operation, parseErr)
	}
	place := operation + " in " + to.description
	if sentinel, remedy := ours(err); sentinel != nil {
		if remedy == "" {
			return fmt.Errorf("%s: %w", place, err)
		}
		return fmt.Errorf("%s: %w. %s", place, err, remedy)
	}
	if end := ended(ctx); end != nil && !errors.Is(err, errOutcomeUnknown) {
		return fmt.Errorf("%s: %w", place, end)
	}
	sentinel, remedy := classify(how, err)
	if sentinel == nil {
		return fmt.Errorf("%s: %s", place, text(err))
	}
	if how == reading {
		remedy = strings.TrimPrefix(remedy, nothingWritten)
	}
	if strings.Contains(remedy, "%[1]s") {
		remedy = fmt.Sprintf(remedy, quoteRole(to.config.User))
	}
	return fmt.Errorf("%s: %w: %s. %s", place, sentinel, text(err), remedy)
}

// ended is why ctx is over, nil when it is not. The network notices a deadline a moment before the
// context does.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// ours finds the errors that this package and the shared rows make themselves.
func ours(err error) (sentinel error, remedy string) {
	for _, known := range []struct {
		sentinel error
		remedy   string
	}{
		{store.ErrConflict, ""},
		{store.ErrNotFound, ""},
		{store.ErrLockLost, lockLostRemedy},
		{store.ErrNewerSchema, newerRemedy},
		{store.ErrCorrupt, corruptRemedy},
	} {
		if errors.Is(err, known.sentinel) {
			return known.sentinel, known.remedy
		}
	}
	return nil, ""
}

// classify finds the store's error that the driver's stands for, nil when none, and a remedy.
func classify(how access, err error) (sentinel error, remedy string) {
	if errors.Is(err, errOutcomeUnknown) {
		return store.ErrUnavailable, unknownRemedy
	}
	switch state := stateOf(err); state {
	case stateTooManyConnections:
		return store.ErrUnavailable, fullSlotsRemedy
	case stateDiskFull:
		return store.ErrFull, fullRemedy
	case stateReadOnly:
		return store.ErrReadOnly, standbyRemedy
	case stateNoPrivilege:
		if how == writing {
			return store.ErrReadOnly, schemaRemedy
		}
		return errUnreadable, unreadableRemedy
	case stateUndefinedTable, stateUndefinedColumn, stateInvalidSchema:
		return store.ErrCorrupt, "The schema sandlot is there in part only. " + corruptRemedy
	case stateBadPassword, stateBadLogin:
		return errLogin, loginRemedy
	case stateNoDatabase:
		return errNoDatabase, databaseRemedy
	case stateQueryCanceled:
		return store.ErrUnavailable, timeoutRemedy
	case "":
		var certificate *tls.CertificateVerificationError
		if errors.As(err, &certificate) || strings.Contains(err.Error(), "x509: ") {
			return store.ErrUnavailable, certificateRemedy
		}
		return store.ErrUnavailable, unavailableRemedy
	default:
		// Broken connections, a lack of resources, an operator at work, transactions in each other's way.
		for _, class := range []string{"08", "53", "57", "58", "40", "55", "25"} {
			if strings.HasPrefix(state, class) {
				return store.ErrUnavailable, unavailableRemedy
			}
		}
	}
	return nil, ""
}

// stateOf is the SQLSTATE of an answer of the server, "" when err is none.
func stateOf(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer.Code
	}
	return ""
}

// refused tells whether the server itself answered, and goes on serving the connection: what it
// refused did not happen.
func refused(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && !fatal(answer)
}

func fatal(answer *pgconn.PgError) bool {
	severity := answer.SeverityUnlocalized
	if severity == "" {
		severity = answer.Severity
	}
	return severity == "FATAL" || severity == "PANIC"
}

// broken tells whether a connection that was open is not usable any more.
func broken(err error) bool {
	var connecting *pgconn.ConnectError
	if err == nil || errors.As(err, &connecting) {
		return false
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return fatal(answer)
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// text says what the driver or the server said, in one line. A server's detail may quote values, so
// only its message is taken.
func text(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		said := answer.Message + " (SQLSTATE " + answer.Code + ")"
		if errors.Is(err, errOutcomeUnknown) {
			said = errOutcomeUnknown.Error() + ": " + said
		}
		return said
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) && connecting.Unwrap() != nil {
		err = connecting.Unwrap() // without the database's name, which is told already
	}
	// Each way to connect that was tried has a line; that with and that without encryption often agree.
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// quoteRole writes a role as SQL does.
func quoteRole(role string) string { return `"` + strings.ReplaceAll(role, `"`, `""`) + `"` }
