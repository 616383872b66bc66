// Package seal encrypts secret values at rest with age.
package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

const (
	keyForm     = "Each key is a line that age-keygen prints, beginning with AGE-SECRET-KEY-1; several are separated by commas."
	otherRemedy = "Add the key that it was sealed with to encryption_key, after the present one."
)

// Errors that callers act on.
var (
	// ErrNoKey: there is no key to seal or open with.
	ErrNoKey = errors.New("no encryption key is set")
	// ErrOtherKey: a value was sealed with none of the keys.
	ErrOtherKey = errors.New("the value was sealed with another encryption key")
	// ErrDamaged: a sealed value is not what sealing made.
	ErrDamaged = errors.New("the sealed value is damaged")
)

// Keyring holds X25519 identities. The zero Keyring is empty.
type Keyring struct {
	identities []age.Identity
	recipient  age.Recipient
}

// Parse reads identities, separated by commas. The first seals, all open. Nothing but space is an
// empty keyring. No error quotes a key.
func Parse(keys string) (Keyring, error) {
	var ring Keyring
	if strings.TrimSpace(keys) == "" {
		return ring, nil
	}
	for i, key := range strings.Split(keys, ",") {
		identity, err := age.ParseX25519Identity(strings.TrimSpace(key))
		if err != nil {
			return Keyring{}, fmt.Errorf("encryption key %d is not an age X25519 identity. %s", i+1, keyForm)
		}
		if i == 0 {
			ring.recipient = identity.Recipient()
		}
		ring.identities = append(ring.identities, identity)
	}
	return ring, nil
}

// Empty tells whether the keyring has no key.
func (k Keyring) Empty() bool { return k.recipient == nil }

// String says how many keys there are, and keeps them out of what is printed by accident.
func (k Keyring) String() string { return fmt.Sprintf("encryption keys: %d", len(k.identities)) }

// GoString is String.
func (k Keyring) GoString() string { return k.String() }

// Seal encrypts a value, differently each time.
func (k Keyring) Seal(value []byte) ([]byte, error) {
	if k.Empty() {
		return nil, ErrNoKey
	}
	var sealed bytes.Buffer
	writer, err := age.Encrypt(&sealed, k.recipient)
	if err == nil {
		_, err = writer.Write(value)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("seal a value: %w", err)
	}
	return sealed.Bytes(), nil
}

// Open decrypts a sealed value with whichever key fits.
func (k Keyring) Open(sealed []byte) ([]byte, error) {
	if k.Empty() {
		return nil, ErrNoKey
	}
	reader, err := age.Decrypt(bytes.NewReader(sealed), k.identities...)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, fmt.Errorf("%w. %s", ErrOtherKey, otherRemedy)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	value, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return value, nil
}
