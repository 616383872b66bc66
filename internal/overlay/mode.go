package overlay

import (
	"fmt"
	"io/fs"
	"strconv"
)

// Mode holds the permission bits of a file. As text it has four octal digits: "0644".
type Mode fs.FileMode

// The modes of files that were given none. They follow the owner's executable bit alone, since the
// other bits depend on the umask of whoever checked the file out.
const (
	plain      Mode = 0o644
	executable Mode = 0o755
)

// normalized is the mode of a file on this machine that was given none.
func normalized(found fs.FileMode) Mode {
	if found&0o100 != 0 {
		return executable
	}
	return plain
}

// FileMode returns the bits as the file functions take them.
func (m Mode) FileMode() fs.FileMode { return fs.FileMode(m) }

func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText writes four octal digits.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads octal digits.
func (m *Mode) UnmarshalText(text []byte) error {
	bits, err := strconv.ParseUint(string(text), 8, 12)
	if err != nil || bits&^uint64(fs.ModePerm) != 0 {
		return fmt.Errorf("%q is not a file mode of permission bits", text)
	}
	*m = Mode(bits)
	return nil
}
