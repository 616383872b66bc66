package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// access tells what was tried when an error came up: the same answer of the system means "cannot
// be written" to a writer and "may not be read" to a reader.
type access bool

const (
	reading access = false
	writing access = true
)

// fail turns err into one of the store's errors and adds the path and what to do.
func (s *Store) fail(operation string, how access, err error) error {
	path := s.databasePath()
	sentinel, remedy := s.classify(how, err)
	switch {
	case sentinel == nil:
		return fmt.Errorf("%s in %s: %w", operation, path, err)
	case errors.Is(err, sentinel) && remedy == "":
		return fmt.Errorf("%s in %s: %w", operation, path, err)
	case errors.Is(err, sentinel):
		return fmt.Errorf("%s in %s: %w. %s", operation, path, err, remedy)
	default:
		return fmt.Errorf("%s in %s: %w: %w. %s", operation, path, sentinel, err, remedy)
	}
}

const (
	corruptRemedy  = "Restore the file from a backup, or move it away: the provider then rebuilds records from state and from the marks on the objects."
	newerRemedy    = "Upgrade the provider to the version that wrote the store, or a later one."
	readOnlyRemedy = "Give the user that runs Terraform write permission to this folder and its files, or set data_dir to another folder."
	fullRemedy     = "Free space on this file system, or set data_dir to a folder on another one, and apply again."
	unreadable     = "Let the user that runs Terraform read this folder and its files, or set data_dir to another folder."
	busyRemedy     = "Another process has kept the store busy. Wait until it is done and apply again."
)

// classify finds the store's error that err stands for, nil when none, and a remedy.
func (s *Store) classify(how access, err error) (sentinel error, remedy string) {
	switch {
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, ""
	case errors.Is(err, store.ErrNewerSchema):
		return store.ErrNewerSchema, newerRemedy
	case errors.Is(err, store.ErrCorrupt):
		return store.ErrCorrupt, corruptRemedy
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return store.ErrFull, fullRemedy
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return denied(how)
	}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return store.ErrCorrupt, corruptRemedy
	case lib.SQLITE_FULL:
		return store.ErrFull, fullRemedy
	case lib.SQLITE_IOERR:
		// SQLite hides the reason. A full disk is by far the most common one.
		if spaceLeft(s.dir) == 0 {
			return store.ErrFull, fullRemedy
		}
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		if how == writing && spaceLeft(s.dir) == 0 {
			return store.ErrFull, fullRemedy
		}
		return denied(how)
	case lib.SQLITE_BUSY:
		return errBusy, busyRemedy
	}
	return nil, ""
}

var (
	errBusy       = errors.New("the store is busy")
	errUnreadable = errors.New("the store cannot be read")
)

func denied(how access) (sentinel error, remedy string) {
	if how == writing {
		return store.ErrReadOnly, readOnlyRemedy
	}
	return errUnreadable, unreadable
}

// codeOf returns SQLite's extended result code, 0 when err is none of SQLite's.
func codeOf(err error) int {
	var typed *driver.Error
	if errors.As(err, &typed) {
		return typed.Code()
	}
	return 0
}
