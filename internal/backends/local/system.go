//go:build linux

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Host folders and files below /etc that hold public data only and that programs need.
var publicEtc = []string{
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted",
	"/etc/services", "/etc/protocols",
}

// hostSystem shows the host's programs and the public part of its /etc, read-only.
func (c *commandLine) hostSystem() error {
	links, err := hostLinks("/")
	if err != nil {
		return err
	}
	for i := 0; i < len(links); i += 3 {
		if links[i] == "--symlink" {
			c.add(links[i : i+3]...)
			continue
		}
		c.bind(links[i], links[i+1], links[i+2])
	}
	for _, path := range publicEtc {
		target, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return err
		}
		c.bind("--ro-bind", target, path)
	}
	c.add("--symlink", "../usr/lib/os-release", "/etc/os-release")
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil && strings.HasPrefix(target, "/usr/share/zoneinfo/") {
		c.add("--symlink", target, "/etc/localtime")
	}
	return nil
}

// ownEtc adds the files of /etc that are made for the sandbox.
func (c *commandLine) ownEtc(name, mode string) error {
	resolver, err := resolverFor(mode)
	if err != nil {
		return err
	}
	for path, content := range map[string]string{
		"/etc/passwd":        "root:x:0:0:root:/:/usr/sbin/nologin\n" + agentPasswd + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"/etc/group":         "root:x:0:\n" + agentGroup + "nogroup:x:65534:\n",
		"/etc/hosts":         hostsFor(name),
		"/etc/hostname":      name + "\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n",
		"/etc/resolv.conf":   resolver,
	} {
		if err := c.file(path, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

const (
	agentPasswd = "agent:x:" + insideID + ":" + insideID + ":agent:" + homePath + ":/bin/sh\n"
	agentGroup  = "agent:x:" + insideID + ":\n"
)

func hostsFor(name string) string {
	return "127.0.0.1 localhost " + name + "\n::1 localhost\n"
}

func resolverFor(mode string) (string, error) {
	switch mode {
	case backends.NetworkAllowAll:
		return "nameserver " + egressNameserver + "\n", nil
	case backends.NetworkHost:
		content, err := os.ReadFile("/etc/resolv.conf")
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return string(content), err
	default:
		return "", nil
	}
}

// Entries at the top of a root file system that the sandbox has of its own.
var ownTopLevel = []string{"dev", "proc", "sys", "tmp", "run", "home", "workspace"}

// rootfsSystem shows another root file system, read-only. Its entries are bound one by one, so
// that mount points which it lacks can be made beside them.
func (c *commandLine) rootfsSystem(rootfs, name, mode string) error {
	entries, err := os.ReadDir(rootfs)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(rootfs, entry.Name())
		if slices.Contains(ownTopLevel, entry.Name()) {
			continue
		}
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			c.add("--symlink", target, "/"+entry.Name())
		case entry.IsDir(), entry.Type().IsRegular():
			c.bind("--ro-bind", path, "/"+entry.Name())
		}
	}
	return c.rootfsEtc(rootfs, name, mode)
}

// rootfsEtc covers those files of the root file system's /etc that must speak of the sandbox.
func (c *commandLine) rootfsEtc(rootfs, name, mode string) (err error) {
	root, err := os.OpenRoot(rootfs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	resolver, err := resolverFor(mode)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name   string
		change func(old string) string
	}{
		{"passwd", func(old string) string { return addAccount(old, agentPasswd) }},
		{"group", func(old string) string { return addAccount(old, agentGroup) }},
		{"hosts", func(string) string { return hostsFor(name) }},
		{"hostname", func(string) string { return name + "\n" }},
		{"resolv.conf", func(string) string { return resolver }},
	} {
		path := "etc/" + file.name
		// A link cannot be covered, and what is absent cannot be made in a read-only folder.
		info, err := root.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		old, err := root.ReadFile(path)
		if err != nil {
			return err
		}
		if err := c.cover("/"+path, []byte(file.change(string(old)))); err != nil {
			return err
		}
	}
	return nil
}

// addAccount puts the sandbox's own entry first, where it wins over one of the same id.
func addAccount(old, entry string) string {
	return entry + old
}
