package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"
)

func newKey(t *testing.T) string {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.String()
}

func mustParse(t *testing.T, keys string) Keyring {
	t.Helper()
	ring, err := Parse(keys)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func mustSeal(t *testing.T, ring Keyring, value []byte) []byte {
	t.Helper()
	sealed, err := ring.Seal(value)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	ring := mustParse(t, newKey(t))
	for _, value := range [][]byte{{}, []byte("a"), bytes.Repeat([]byte{0, 0xff}, 100_000)} {
		sealed := mustSeal(t, ring, value)
		if len(value) > 1 && bytes.Contains(sealed, value[:2000]) {
			t.Error("the value stands in what was sealed")
		}
		if bytes.Equal(sealed, mustSeal(t, ring, value)) {
			t.Error("sealing is the same each time")
		}
		if opened, err := ring.Open(sealed); err != nil || !bytes.Equal(opened, value) {
			t.Errorf("opened %d bytes of %d, %v", len(opened), len(value), err)
		}
	}
}

// A key is rotated by putting the new one before the old one.
func TestRotation(t *testing.T) {
	older, newer := newKey(t), newKey(t)
	before := mustSeal(t, mustParse(t, older), []byte("before"))
	both := mustParse(t, " "+newer+" ,\n"+older+"\n")
	if opened, err := both.Open(before); err != nil || string(opened) != "before" {
		t.Errorf("%q, %v", opened, err)
	}
	after := mustSeal(t, both, []byte("after"))
	if opened, err := mustParse(t, newer).Open(after); err != nil || string(opened) != "after" {
		t.Errorf("%q, %v", opened, err)
	}
	if _, err := mustParse(t, older).Open(after); !errors.Is(err, ErrOtherKey) || !strings.HasSuffix(err.Error(), ".") {
		t.Errorf("the older key opens what the newer one sealed: %v", err)
	}
}

func TestEmptyKeyring(t *testing.T) {
	for _, ring := range []Keyring{{}, mustParse(t, ""), mustParse(t, " \n")} {
		_, sealErr := ring.Seal([]byte("a"))
		_, openErr := ring.Open([]byte("a"))
		if !ring.Empty() || !errors.Is(sealErr, ErrNoKey) || !errors.Is(openErr, ErrNoKey) {
			t.Errorf("%v, %v", sealErr, openErr)
		}
	}
}

func TestDamagedValue(t *testing.T) {
	ring := mustParse(t, newKey(t))
	sealed := mustSeal(t, ring, []byte("a value"))
	flipped := bytes.Clone(sealed)
	flipped[len(flipped)-1] ^= 1
	for name, damaged := range map[string][]byte{"none": nil, "text": []byte("a value"), "cut": sealed[:len(sealed)-1], "flipped": flipped} {
		if value, err := ring.Open(damaged); !errors.Is(err, ErrDamaged) || value != nil {
			t.Errorf("%s: %q, %v", name, value, err)
		}
	}
}

// Keys stand in no error and in nothing that is printed.
func TestKeysStaySecret(t *testing.T) {
	key := newKey(t)
	public, err := age.ParseX25519Identity(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string]string{
		"cut":       key[:len(key)-1],
		"longer":    key + "Q",
		"two words": key + " " + key,
		"comma":     key + ",",
		"second":    key + "," + strings.ToLower(key)[:40],
		"public":    public.Recipient().String(),
		"password":  "correct horse",
	} {
		_, err := Parse(keys)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, secret := range []string{key[20:40], strings.ToLower(key[20:40]), "correct horse"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	ring := mustParse(t, key)
	for _, printed := range []string{fmt.Sprint(ring), fmt.Sprintf("%+v", ring), fmt.Sprintf("%#v", ring), fmt.Sprintf("%v", &ring)} {
		if strings.Contains(strings.ToUpper(printed), key[20:40]) || !strings.Contains(printed, "encryption keys: 1") {
			t.Errorf("printed as %s", printed)
		}
	}
}
