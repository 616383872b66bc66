package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// owner is who files in a sandbox belong to.
type owner struct {
	uid, gid int
}

// largestAccounts bounds what is read of /etc/passwd and /etc/group.
const largestAccounts = 4 << 20

// userOf resolves a user as the engine does: "name", "uid", either with ":group" or ":gid". Names
// are looked up in the container's own files, without running anything.
func (e *engine) userOf(ctx context.Context, id, user string) (owner, error) {
	name, group, hasGroup := strings.Cut(user, ":")
	if name == "" {
		name = "0"
	}
	found := owner{}
	uid, err := strconv.Atoi(name)
	if err == nil && (hasGroup || uid == 0) {
		found.uid = uid
	} else {
		entry, lookupErr := e.account(ctx, id, "/etc/passwd", name)
		switch {
		case lookupErr != nil:
			return owner{}, lookupErr
		case entry == nil && err == nil:
			found.uid = uid // A uid needs no entry; its group is then 0.
		case entry == nil:
			return owner{}, fmt.Errorf("unable to find user %s: no matching entries in passwd file", name)
		default:
			if found, err = accountIDs(entry); err != nil {
				return owner{}, err
			}
		}
	}
	if !hasGroup {
		return found, nil
	}
	if found.gid, err = strconv.Atoi(group); err == nil {
		return found, nil
	}
	entry, err := e.account(ctx, id, "/etc/group", group)
	if err != nil {
		return owner{}, err
	}
	if len(entry) < 3 {
		return owner{}, fmt.Errorf("unable to find group %s: no matching entries in group file", group)
	}
	if found.gid, err = strconv.Atoi(entry[2]); err != nil {
		return owner{}, fmt.Errorf("read /etc/group: %w", err)
	}
	return found, nil
}

func accountIDs(entry []string) (owner, error) {
	if len(entry) < 4 {
		return owner{}, errors.New("read /etc/passwd: an entry has too few fields")
	}
	uid, err := strconv.Atoi(entry[2])
	if err != nil {
		return owner{}, fmt.Errorf("read /etc/passwd: %w", err)
	}
	gid, err := strconv.Atoi(entry[3])
	if err != nil {
		return owner{}, fmt.Errorf("read /etc/passwd: %w", err)
	}
	return owner{uid: uid, gid: gid}, nil
}

// account returns the fields of the entry whose name, or in passwd also uid, is given; nil when
// there is no such entry or no such file.
func (e *engine) account(ctx context.Context, id, file, name string) ([]string, error) {
	content, err := e.readSmall(ctx, id, file)
	if err != nil || content == nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) >= 3 && (fields[0] == name || fields[2] == name) {
			return fields, nil
		}
	}
	return nil, lines.Err()
}

// readSmall reads a regular file, following a link at its end; nil when there is none.
func (e *engine) readSmall(ctx context.Context, id, file string) ([]byte, error) {
	for range 8 {
		stat, err := e.ContainerStatPath(ctx, id, file)
		if cerrdefs.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if stat.LinkTarget == "" || stat.LinkTarget == file {
			break
		}
		file = stat.LinkTarget
	}
	archive, _, err := e.archive(ctx, id, file, wholeArchive)
	if cerrdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	content, err := io.ReadAll(io.LimitReader(archive, largestAccounts))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return content, nil
}

// ensureOwned gives a directory to a user, and leaves its mode, time and content alone. Unless
// force is set, one that is not root's any more stays as it is.
func (e *engine) ensureOwned(ctx context.Context, id, directory string, to owner, force bool) error {
	if to.uid == 0 && !force {
		return nil
	}
	header, err := e.header(ctx, id, directory)
	if err != nil {
		return err
	}
	if header.Uid == to.uid && header.Gid == to.gid || header.Uid != 0 && !force {
		return nil
	}
	given := &tar.Header{
		Typeflag: tar.TypeDir, Name: path.Base(directory) + "/", Mode: header.Mode, ModTime: header.ModTime, Uid: to.uid, Gid: to.gid,
	}
	return e.put(ctx, id, path.Dir(directory), []tarEntry{{header: given}})
}

// tarEntry is one file of an archive that is sent to the engine.
type tarEntry struct {
	header  *tar.Header
	content []byte
}

// put unpacks entries in a directory of a container, which may be stopped.
func (e *engine) put(ctx context.Context, id, directory string, entries []tarEntry) error {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, entry := range entries {
		entry.header.Size = int64(len(entry.content))
		entry.header.Format = tar.FormatPAX
		if err := archive.WriteHeader(entry.header); err != nil {
			return fmt.Errorf("pack %s: %w", entry.header.Name, err)
		}
		if _, err := archive.Write(entry.content); err != nil {
			return fmt.Errorf("pack %s: %w", entry.header.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("pack files: %w", err)
	}
	return e.CopyToContainer(ctx, id, directory, &buffer, container.CopyToContainerOptions{})
}
