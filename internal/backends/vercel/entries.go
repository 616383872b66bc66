package vercel

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// listScript prints for each batch of entries their number, a line for each, their names, and where
// those that are links lead. Names and targets end with NUL, since they can hold anything else.
const listScript = reading + `
cd -- "$real" || exit 13
exec find . ! -name . -prune -exec sh -c '
	echo "$#"
	stat -c "%f %s %Y" -- "$@" || exit 1
	printf "%s\000" "$@"
	for file; do
		if [ -L "$file" ]; then
			target=$(readlink -- "$file" && echo x) || exit 1
			printf "%s\000" "${target%?x}"
		fi
	done' sh {} +`

// ListFiles implements [backends.Files].
func (b *Backend) ListFiles(ctx context.Context, name, directory string) ([]backends.FileInfo, error) {
	f, err := b.file(ctx, "list directory", name, directory)
	if err != nil {
		return nil, err
	}
	text, err := f.run(ctx, listScript, f.base, directory, ".")
	if err != nil {
		return nil, err
	}
	entries, err := f.entries(text)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b backends.FileInfo) int { return cmp.Compare(path.Base(a.Path), path.Base(b.Path)) })
	return entries, nil
}

// entries reads what listScript printed.
func (f fileCall) entries(text string) ([]backends.FileInfo, error) {
	var all []backends.FileInfo
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		count, err := strconv.Atoi(line)
		if err != nil || count <= 0 || count > len(text) {
			return nil, f.garbled()
		}
		batch := make([]backends.FileInfo, count)
		for i := range batch {
			line, text, _ = strings.Cut(text, "\n")
			if batch[i], err = f.described("", line); err != nil {
				return nil, err
			}
		}
		for i := range batch {
			name, rest, whole := strings.Cut(text, "\x00")
			if name, text = strings.TrimPrefix(name, "./"), rest; !whole || name == "" || strings.Contains(name, "/") {
				return nil, f.garbled()
			}
			batch[i].Path = path.Join(f.path, name)
		}
		for i := range batch {
			if batch[i].Mode.Type() != fs.ModeSymlink {
				continue
			}
			target, rest, whole := strings.Cut(text, "\x00")
			if batch[i].LinkTarget, text = target, rest; !whole {
				return nil, f.garbled()
			}
		}
		all = append(all, batch...)
	}
	return all, nil
}

// described reads a line of stat: mode in hexadecimal, bytes, seconds since the epoch.
func (f fileCall) described(file, line string) (backends.FileInfo, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return backends.FileInfo{}, f.garbled()
	}
	mode, modeErr := strconv.ParseUint(fields[0], 16, 32)
	size, sizeErr := strconv.ParseInt(fields[1], 10, 64)
	changed, timeErr := strconv.ParseInt(fields[2], 10, 64)
	if modeErr != nil || sizeErr != nil || timeErr != nil || size < 0 {
		return backends.FileInfo{}, f.garbled()
	}
	return backends.FileInfo{Path: file, Size: size, Mode: fileMode(uint32(mode)), ModTime: time.Unix(changed, 0)}, nil
}

func (f fileCall) garbled() error {
	return failure(backends.Failed, f.operation, f.path, "What the sandbox's own programs print about it cannot be read.")
}

// fileMode turns a mode of the operating system into Go's.
func fileMode(mode uint32) fs.FileMode {
	types := map[uint32]fs.FileMode{
		0o140000: fs.ModeSocket, 0o120000: fs.ModeSymlink, 0o100000: 0, 0o060000: fs.ModeDevice,
		0o040000: fs.ModeDir, 0o020000: fs.ModeDevice | fs.ModeCharDevice, 0o010000: fs.ModeNamedPipe,
	}
	kind, known := types[mode&0o170000]
	if !known {
		kind = fs.ModeIrregular
	}
	result := kind | fs.FileMode(mode&0o777)
	for bit, special := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			result |= special
		}
	}
	return result
}

func octal(mode fs.FileMode) string { return strconv.FormatUint(uint64(mode.Perm()), 8) }

// temporaryName is one that nothing in the directory has.
func temporaryName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	return ".sandlot-" + hex.EncodeToString(random[:])
}
