package overlay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// largestNamed is how many files an error about the size names.
const largestNamed = 5

// Collect looks at all files that specs name, by their target path, and hashes them. Together they
// may have at most limit bytes and be at most [MaxFiles]. It reads nothing before both are known to
// hold.
//
// What is wrong is told as one *[Error] for each specification concerned, joined.
func Collect(ctx context.Context, specs map[string]Spec, limit int64) (Set, error) {
	c := &collector{}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(specs)) {
		err := c.find(ctx, key, specs[key])
		if err != nil {
			problems = append(problems, err)
		}
		if errors.Is(err, ErrTooMany) {
			return Set{}, errors.Join(problems...)
		}
	}
	problems = append(problems, c.conflicts()...)
	if err := c.checkSize(limit); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return Set{}, errors.Join(problems...)
	}
	return c.read(ctx, limit)
}

// collector holds the files that were found so far.
type collector struct {
	files []Entry
}

// find looks at one specification without reading content.
func (c *collector) find(ctx context.Context, key string, spec Spec) error {
	if spec.Mode&^fs.ModePerm != 0 {
		return &Error{Key: key, Path: key, Kind: ErrMode, Detail: fmt.Sprintf("The mode %#o has more than permission bits.", uint32(spec.Mode))}
	}
	if spec.Source == "" {
		return c.add(key, key, cmp.Or(Mode(spec.Mode), plain), int64(len(spec.Content)), given(spec.Content))
	}
	info, err := os.Stat(spec.Source)
	switch {
	case err != nil:
		return &Error{Key: key, Path: spec.Source, Kind: ErrUnreadable, Detail: "It cannot be looked at.", Remedy: "Check the path: a relative one starts at the directory that Terraform runs in.", Err: err}
	case info.Mode().IsRegular():
		return c.add(key, key, cmp.Or(Mode(spec.Mode), normalized(info.Mode())), info.Size(), single(spec.Source))
	case !info.IsDir():
		return notRegular(key, spec.Source, info.Mode())
	case spec.Mode != 0:
		return &Error{Key: key, Path: spec.Source, Kind: ErrMode, Detail: "It is a directory, whose files keep their own executable bits.", Remedy: "Leave the mode out, or name the files one by one."}
	}
	return c.walk(ctx, key, spec.Source)
}

// add notes a file.
func (c *collector) add(key, target string, mode Mode, size int64, from origin) error {
	cleaned, err := cleanTarget(target, false)
	if err != nil {
		return &Error{Key: key, Path: target, Kind: ErrTarget, Detail: "The target path cannot be used: " + err.Error() + "."}
	}
	if len(c.files) == MaxFiles {
		return &Error{
			Key: key, Path: key, Kind: ErrTooMany, Detail: fmt.Sprintf("There are more than %d files.", MaxFiles),
			Remedy: fmt.Sprintf("Leave out what is not needed by a file %s in the directory.", IgnoreFile),
		}
	}
	c.files = append(c.files, Entry{Path: cleaned, Mode: mode, Size: size, key: key, origin: from})
	return nil
}

// conflicts sorts the files and finds those that cannot exist beside each other.
func (c *collector) conflicts() []error {
	slices.SortFunc(c.files, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.key, b.key)) })
	keys := map[string]string{}
	var problems []error
	for _, file := range c.files {
		if other, taken := keys[file.Path]; taken {
			problems = append(problems, &Error{Key: file.key, Path: file.Path, Kind: ErrConflict, Detail: fmt.Sprintf("Both %q and %q put a file there.", other, file.key)})
		}
		keys[file.Path] = file.key
	}
	for _, file := range c.files {
		for dir := path.Dir(file.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if other, isFile := keys[dir]; isFile {
				problems = append(problems, &Error{Key: file.key, Path: file.Path, Kind: ErrConflict, Detail: fmt.Sprintf("It needs the directory %q, which %q makes a file.", dir, other)})
			}
		}
	}
	return problems
}

// checkSize names the largest files when all together are too large.
func (c *collector) checkSize(limit int64) error {
	var total int64
	for _, file := range c.files {
		total += file.Size
	}
	if total <= limit {
		return nil
	}
	largest := slices.SortedStableFunc(slices.Values(c.files), func(a, b Entry) int { return cmp.Compare(b.Size, a.Size) })
	var names []string
	for _, file := range largest[:min(largestNamed, len(largest))] {
		names = append(names, fmt.Sprintf("%s (%d bytes)", file.Path, file.Size))
	}
	return &Error{
		Key: largest[0].key, Path: largest[0].Path, Kind: ErrTooLarge,
		Detail: fmt.Sprintf("The files have %d bytes, and at most %d are allowed. The largest are: %s.", total, limit, strings.Join(names, ", ")),
		Remedy: fmt.Sprintf("Leave out what is not needed by a file %s in the directory, or raise the limit.", IgnoreFile),
	}
}

// read hashes all files.
func (c *collector) read(ctx context.Context, limit int64) (Set, error) {
	set := Set{Entries: c.files}
	for i := range set.Entries {
		entry := &set.Entries[i]
		if err := entry.read(ctx, limit-set.Total); err != nil {
			return Set{}, err
		}
		set.Total += entry.Size
	}
	return set, nil
}

// read hashes one file, which may have grown since it was looked at.
func (e *Entry) read(ctx context.Context, limit int64) error {
	reader, err := e.origin.open()
	if err != nil {
		return &Error{Key: e.key, Path: e.origin.name(), Kind: ErrUnreadable, Detail: "It cannot be opened.", Err: err}
	}
	sum, err := hashed(ctx, io.LimitReader(reader, limit+1))
	switch err := errors.Join(err, reader.Close()); {
	case err != nil:
		return &Error{Key: e.key, Path: e.origin.name(), Kind: ErrUnreadable, Detail: "It cannot be read.", Err: err}
	case sum.Size > limit:
		return &Error{Key: e.key, Path: e.origin.name(), Kind: ErrTooLarge, Detail: "It grew beyond the limit while it was read."}
	}
	e.Size, e.SHA256 = sum.Size, sum.SHA256
	return nil
}

// summed is what hashing finds.
type summed struct {
	Size   int64
	SHA256 string
}

// hashed reads to the end, or until ctx ends.
func hashed(ctx context.Context, reader io.Reader) (summed, error) {
	hash := sha256.New()
	size, err := io.Copy(hash, interruptible{ctx, reader})
	return summed{Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// interruptible ends with its context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (i interruptible) Read(buffer []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.Reader.Read(buffer)
}
