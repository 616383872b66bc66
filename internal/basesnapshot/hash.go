package basesnapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/distribution/reference"
	"github.com/gowebpki/jcs"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// hashed is what the hash of a manifest is made of. All members are always there; adding one would
// change every hash, and with it bake everything again, so a new one has to leave itself out while
// it is empty.
type hashed struct {
	Allowlist       []string          `json:"allowlist"`
	Commands        [][]string        `json:"commands"`
	Environment     map[string]string `json:"environment"`
	Files           []hashedFile      `json:"files"`
	MarkerPath      string            `json:"marker_path"`
	Name            string            `json:"name"`
	PackageManagers map[string]string `json:"package_managers"`
	Runtime         string            `json:"runtime"`
	SchemaVersion   int               `json:"schema_version"`
	Source          map[string]any    `json:"source"`
	SystemPackages  []string          `json:"system_packages"`
	TemplateVersion string            `json:"template_version"`
}

type hashedFile struct {
	Mode   string `json:"mode"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Hash returns the hash of everything that a bake's result depends on, in lower-case hex: the SHA-256
// of the members of a JSON object in the canonical form of RFC 8785. What the environment allowlist
// stands for is not known to everyone who plans, so that only its names count. Packages are trimmed
// and sorted, an image reference is written in full, and the version of the provider does not count:
// each of its upgrades would bake everything again.
func Hash(manifest Manifest, environment map[string]string, allowlist []string) (string, error) {
	canonical, err := canonicalManifest(manifest, environment, allowlist)
	if err != nil {
		return "", fmt.Errorf("hash the manifest: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

func canonicalManifest(manifest Manifest, environment map[string]string, allowlist []string) ([]byte, error) {
	names := append([]string{}, allowlist...)
	slices.Sort(names)
	all := hashed{
		Allowlist:       slices.Compact(names),
		Commands:        append([][]string{}, manifest.Commands...),
		Environment:     orEmpty(environment),
		Files:           []hashedFile{},
		MarkerPath:      manifest.MarkerPath,
		Name:            manifest.Name,
		PackageManagers: orEmpty(manifest.PackageManagers),
		Runtime:         manifest.Runtime,
		SchemaVersion:   manifest.SchemaVersion,
		Source:          canonicalSource(manifest.Source),
		SystemPackages:  manifest.packages(),
		TemplateVersion: manifest.TemplateVersion,
	}
	for _, file := range manifest.Files.Entries {
		all.Files = append(all.Files, hashedFile{Mode: file.Mode.String(), Path: file.Path, SHA256: file.SHA256})
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(raw)
}

func orEmpty(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}

// canonicalSource holds the members of a source that are set. What a tag or a branch means today is not
// asked for: a plan needs no engine.
func canonicalSource(source backends.Source) map[string]any {
	members := map[string]any{}
	for name, value := range map[string]string{
		"image": fullImage(source.Image), "rootfs": source.Rootfs, "snapshot_id": source.SnapshotID, "clone_of": source.CloneOf,
		"runtime": source.Runtime, "git_url": source.GitURL, "git_revision": source.GitRevision, "tarball_url": source.TarballURL,
	} {
		if value != "" {
			members[name] = value
		}
	}
	if source.GitDepth != 0 {
		members["git_depth"] = source.GitDepth
	}
	return members
}

// fullImage writes out the default host, repository and tag of an image reference, by which
// sandbox.SameImage compares them too.
func fullImage(image string) string {
	if image == "" {
		return ""
	}
	named, err := reference.ParseDockerRef(image)
	if err != nil {
		return image // the manifest's own check refuses it
	}
	return named.String()
}
