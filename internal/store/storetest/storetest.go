// Package storetest is the one behavior suite that every store passes.
//
// A test function of its own calls [Run]:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store {
//			return sqlite.New(sqlite.Config{Dir: storetest.Place(t)})
//		})
//	}
//
// Part of the suite runs in other processes: the test binary starts itself again with the same
// test function, and Run then carries out one [task] instead of the suite.
package storetest

import (
	"fmt"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Open returns a store at [Place](t). Several calls with the same t are several clients of one
// store, which does not exist before the first write.
type Open func(t *testing.T) store.Store

// Run tests the store that open returns.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	if isTask() {
		runTask(t, open)
		return
	}
	shared := suite{root: t.Name(), open: open}
	for _, part := range []struct {
		name string
		test func(*testing.T, suite)
	}{
		{"absent store", testAbsentStore},
		{"owner", testOwner},
		{"owner of many processes", testOwnerOfManyProcesses},
		{"insert", testInsert},
		{"insert of a taken key", testInsertTaken},
		{"insert of bad records", testInsertBad},
		{"find", testFind},
		{"update", testUpdate},
		{"update is fenced", testUpdateFenced},
		{"delete", testDelete},
		{"snapshots of an absent store", testSnapshotsOfAbsentStore},
		{"snapshot insert", testSnapshotInsert},
		{"snapshot find", testSnapshotFind},
		{"snapshot update", testSnapshotUpdate},
		{"snapshot promote", testSnapshotPromote},
		{"concurrent promotions", testConcurrentPromotions},
		{"secrets", testSecrets},
		{"concurrent updates", testConcurrentUpdates},
		{"concurrent processes", testConcurrentProcesses},
		{"one insert wins", testOneInsertWins},
		{"killed writer", testKilledWriter},
		{"lock excludes", testLockExcludes},
		{"lock of odd keys", testLockKeys},
		{"lock waits with its context", testLockContext},
		{"lock between processes", testLockProcesses},
		{"killed holder", testKilledHolder},
		{"writes under a lock", testWritesUnderLock},
		{"close", testClose},
		{"canceled context", testCanceled},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.test(t, shared)
		})
	}
}

// suite is what the parts of one run share.
type suite struct {
	root string // the name of the test function
	open Open
}

// client returns a store that is closed with the test.
func (s suite) client(t *testing.T) store.Store {
	t.Helper()
	opened := s.open(t)
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return opened
}

// sample is a record with every member set that a caller sets.
func sample(number int) store.Record {
	return store.Record{
		ID:           fmt.Sprintf("id-%04d", number),
		Kind:         "persistent",
		Backend:      "local",
		Binding:      "binding-1",
		Owner:        "owner-1",
		Name:         fmt.Sprintf("name-%04d", number),
		WorkspaceID:  "wörk space'; --",
		Generation:   3,
		Spec:         []byte(`{"cpus":1.5,"labels":{"a":"ü\u0000\"'"}}`),
		Committed:    true,
		Attachment:   "token",
		Intent:       []byte(`{"operation":"create"}`),
		Workspace:    []byte(`{"state":"ready \u0000"}`),
		BaseSnapshot: "snap-1",
	}
}
