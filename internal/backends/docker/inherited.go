package docker

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
)

// inherited is what a container takes from its image when its own configuration is silent.
//
// An image that we made from a container cannot be asked for that: a commit mixes the container's
// configuration in, and an import has none. So it carries, in a label, what the image below had.
type inherited struct {
	Env     []string            `json:"env,omitempty"`
	User    string              `json:"user,omitempty"`
	Labels  map[string]string   `json:"labels,omitempty"`
	Volumes map[string]struct{} `json:"volumes,omitempty"`
	// unknown is true when the image is gone: then only what was asked for can be told.
	unknown bool
	// explicit is true when the label was there: then every value has to be given to a container.
	explicit bool
	// residue are variables that a commit could not take out of the image, only empty.
	residue []string
	// imageLabels are those of the image itself, with what a commit could only empty.
	imageLabels map[string]string
}

// inheritedFrom reads an image's configuration.
func inheritedFrom(found image.InspectResponse) (inherited, error) {
	if found.Config == nil {
		return inherited{}, nil
	}
	text, ok := found.Config.Labels[labelInherited]
	if !ok || text == "" {
		labels := withoutOurs(found.Config.Labels)
		return inherited{
			Env:         found.Config.Env,
			User:        found.Config.User,
			Labels:      labels,
			Volumes:     found.Config.Volumes,
			imageLabels: labels,
		}, nil
	}
	var below inherited
	raw, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &below)
	}
	if err != nil {
		return inherited{}, fmt.Errorf("read the label %s of image %s: %w", labelInherited, found.ID, err)
	}
	below.explicit = true
	below.imageLabels = withoutOurs(found.Config.Labels)
	for _, entry := range found.Config.Env {
		if name, _, _ := strings.Cut(entry, "="); below.value(name) == nil {
			below.residue = append(below.residue, name)
		}
	}
	return below, nil
}

// encode returns the label's value: base64, so that nothing in it needs quoting in a Dockerfile
// instruction.
func (i inherited) encode() (string, error) {
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("encode the label %s: %w", labelInherited, err)
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// value returns a variable's value, nil when the image does not set it.
func (i inherited) value(name string) *string {
	for _, entry := range slices.Backward(i.Env) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return &value
		}
	}
	return nil
}

func withoutOurs(labels map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range labels {
		if !strings.HasPrefix(name, labelPrefix) {
			kept[name] = value
		}
	}
	return kept
}
