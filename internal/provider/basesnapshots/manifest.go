package basesnapshots

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
)

// ManifestInput is a manifest as a configuration writes it. It is kept in the record, for imports, and
// it is what the function manifest_hash takes. Null and empty are kept apart.
type ManifestInput struct {
	SchemaVersion   *int64                          `json:"schema_version"`
	Name            string                          `json:"name"`
	Source          *SourceInput                    `json:"source"`
	SystemPackages  []string                        `json:"system_packages"`
	PackageManagers map[string]string               `json:"package_managers"`
	Commands        [][]string                      `json:"commands"`
	TemplateFiles   map[string]*templatefiles.Input `json:"template_files"`
	TemplateVersion *string                         `json:"template_version"`
	MarkerPath      *string                         `json:"marker_path"`
}

// SourceInput is the source of a manifest.
type SourceInput struct {
	Image      *string   `json:"image"`
	Rootfs     *string   `json:"rootfs"`
	Runtime    *string   `json:"runtime"`
	Git        *GitInput `json:"git"`
	TarballURL *string   `json:"tarball_url"`
	SnapshotID *string   `json:"snapshot_id"`
}

// GitInput is a repository.
type GitInput struct {
	URL      *string `json:"url"`
	Revision *string `json:"revision"`
	Depth    *int64  `json:"depth"`
}

// source is the source without what is not set.
func (s SourceInput) source() backends.Source {
	source := backends.Source{
		Image: value(s.Image), Rootfs: value(s.Rootfs), Runtime: value(s.Runtime), TarballURL: value(s.TarballURL), SnapshotID: value(s.SnapshotID),
	}
	if git := s.Git; git != nil {
		source.GitURL, source.GitRevision = value(git.URL), value(git.Revision)
		if git.Depth != nil {
			source.GitDepth = int(*git.Depth)
		}
	}
	return source
}

// ParseManifest reads a manifest from JSON. What it does not know is an error: a misspelled member
// would change what is baked.
func ParseManifest(raw []byte) (ManifestInput, error) {
	var input ManifestInput
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		return input, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	return input, nil
}

// Manifest returns the manifest without its files.
func (m ManifestInput) Manifest() basesnapshot.Manifest {
	manifest := basesnapshot.Manifest{
		SchemaVersion:   basesnapshot.SchemaVersion,
		Name:            m.Name,
		SystemPackages:  slices.Clone(m.SystemPackages),
		PackageManagers: m.PackageManagers,
		Commands:        m.Commands,
		TemplateVersion: value(m.TemplateVersion),
		MarkerPath:      value(m.MarkerPath),
	}
	if m.SchemaVersion != nil {
		manifest.SchemaVersion = int(*m.SchemaVersion)
	}
	if s := m.Source; s != nil {
		manifest.Source = s.source()
	}
	return manifest
}

// Collect returns the manifest with its files, which are read and hashed.
func (m ManifestInput) Collect(ctx context.Context) (basesnapshot.Manifest, error) {
	manifest := m.Manifest()
	specs := map[string]overlay.Spec{}
	for target, file := range m.TemplateFiles {
		spec, err := file.Spec()
		if err != nil {
			return manifest, fmt.Errorf("template_files[%q]: %w", target, err)
		}
		specs[target] = spec
	}
	var err error
	manifest.Files, err = overlay.Collect(ctx, specs, maxTemplateBytes)
	return manifest, err
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
