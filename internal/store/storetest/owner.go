package storetest

import (
	"encoding/hex"
	"testing"
)

// manyProcesses make the owner of one store at once.
const manyProcesses = 20

func testOwner(t *testing.T, suite suite) {
	s := suite.client(t)
	made, err := s.EnsureOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if bytes, err := hex.DecodeString(made); err != nil || len(bytes) != 16 {
		t.Errorf("%q is not 128 bits in hex", made)
	}
	if again, err := s.EnsureOwner(t.Context()); err != nil || again != made {
		t.Errorf("EnsureOwner again: %q, %v, want %q", again, err, made)
	}
	if read, err := suite.client(t).Owner(t.Context()); err != nil || read != made {
		t.Errorf("Owner: %q, %v, want %q", read, err, made)
	}
}

func testOwnerOfManyProcesses(t *testing.T, suite suite) {
	var children []*process
	for range manyProcesses {
		children = append(children, suite.start(t, "owner", ""))
	}
	owners := map[string]bool{}
	for _, child := range children {
		owners[child.next()] = true
		child.finish()
	}
	read, err := suite.client(t).Owner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(owners) != 1 || !owners[read] {
		t.Errorf("the processes got %v, the store has %q", owners, read)
	}
}
