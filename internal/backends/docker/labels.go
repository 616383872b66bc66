package docker

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// labelPrefix is kept for our own labels.
const labelPrefix = "sandlot."

// Labels on containers, volumes and images.
const (
	labelOwner     = "sandlot.owner"
	labelName      = "sandlot.name"
	labelKind      = "sandlot.kind"
	labelWorkspace = "sandlot.workspace"
	labelRecord    = "sandlot.record"
	// labelRole tells what an object is for. A container that somebody runs from an image of ours
	// inherits that image's labels: only the role tells it from a sandbox.
	labelRole = "sandlot.role"
	// labelConfiguration holds, on a container, what was configured: see [configuration].
	labelConfiguration = "sandlot.configuration"
	// labelResume is set on a replacement of a container that ran.
	labelResume = "sandlot.resume"
	// labelVolume is a named volume's name within its sandbox.
	labelVolume = "sandlot.volume"
	// labelImage is, on a workspace volume, the image its sandbox was made from, for a recovery.
	labelImage = "sandlot.image"
	// labelAttempt tells on a volume which call made it.
	labelAttempt = "sandlot.attempt"
	// labelSnapshot is the id of a snapshot.
	labelSnapshot = "sandlot.snapshot"
	// labelInherited holds, on an image of ours, the configuration of the image below: see [inherited].
	labelInherited = "sandlot.inherited"
)

// Values of labelRole.
const (
	roleSandbox   = "sandbox"   // a container
	roleScratch   = "scratch"   // a container that never runs, while a snapshot is made
	roleWorkspace = "workspace" // a volume
	roleVolume    = "volume"    // a volume
	roleRoot      = "root"      // an image: the root file system of one sandbox
	roleSnapshot  = "snapshot"  // an image
	roleLayer     = "layer"     // an image below a snapshot
)

// Suffixes of container names. Sandbox names have no dots.
const (
	suffixNext    = ".next"    // a replacement that has not taken over yet
	suffixOld     = ".old"     // what is being replaced, and ran
	suffixScratch = ".scratch" // the container that becomes a snapshot
	suffixLayer   = ".layer"   // the same, when the root file system had to be saved first
)

// workspacePath is where the workspace is inside a sandbox.
const workspacePath = "/workspace"

func workspaceVolume(name string) string { return name + "-workspace" }

func namedVolume(name, volume string) string { return name + "-vol-" + volume }

// markLabels are the labels of every object.
func markLabels(marks backends.Marks, role string) map[string]string {
	return map[string]string{
		labelOwner:     marks.Owner,
		labelName:      marks.Name,
		labelKind:      string(marks.Kind),
		labelWorkspace: marks.Workspace,
		labelRecord:    marks.Record,
		labelRole:      role,
	}
}

// marksOf reads the marks from labels. They are zero when the labels are not all of ours.
func marksOf(labels map[string]string) backends.Marks {
	if labels[labelOwner] == "" || labels[labelName] == "" {
		return backends.Marks{}
	}
	return backends.Marks{
		Owner:     labels[labelOwner],
		Name:      labels[labelName],
		Kind:      backends.Kind(labels[labelKind]),
		Workspace: labels[labelWorkspace],
		Record:    labels[labelRecord],
	}
}

// same tells whether an object with these labels belongs to marks.
func same(labels map[string]string, marks backends.Marks) bool {
	return labels[labelOwner] == marks.Owner && labels[labelRecord] == marks.Record
}

// configuration is what was asked for, where the engine does not keep it or fills it in: without
// it a value of the image could not be told from one that somebody chose.
type configuration struct {
	// Spec has the names of variables and labels, with empty values: the engine has those.
	Spec backends.Spec `json:"spec"`
	// ResolvedImage is the digest or id that the image reference meant at creation.
	ResolvedImage string `json:"resolved_image,omitempty"`
	// DefaultRuntime is what the engine used when no runtime was chosen.
	DefaultRuntime string    `json:"default_runtime,omitempty"`
	CreatedAt      time.Time `json:"created_at,omitzero"`
}

// encode returns the label's value. Secrets are not in it: [backends.Spec] keeps them out.
func (c configuration) encode() (string, error) {
	c.Spec.SecretNames = c.Spec.SortedSecretNames()
	c.Spec.Environment = namesOnly(c.Spec.Environment)
	c.Spec.Labels = namesOnly(c.Spec.Labels)
	c.Spec.Source = backends.Source{Image: c.Spec.Source.Image}
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode the configuration label: %w", err)
	}
	return string(text), nil
}

func namesOnly(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	names := make(map[string]string, len(values))
	for name := range values {
		names[name] = ""
	}
	return names
}

// configurationOf reads the label. A container without a readable one has nothing configured, so
// that all of its values show.
func configurationOf(labels map[string]string) configuration {
	var found configuration
	if err := json.Unmarshal([]byte(labels[labelConfiguration]), &found); err != nil {
		return configuration{}
	}
	return found
}

// isSandbox tells whether a container of this name is, or half is, the sandbox its labels name.
func isSandbox(containerName string, labels map[string]string) bool {
	name := labels[labelName]
	if labels[labelRole] != roleSandbox || name == "" {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(containerName, "/"), name)
	return ok && (rest == "" || rest == suffixNext || rest == suffixOld)
}
