package cloudhost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Labels on everything that we allocate.
const (
	labelOwner  = ownLabels + "owner"
	labelName   = ownLabels + "name"
	labelKind   = ownLabels + "kind"
	labelRecord = ownLabels + "record"
)

// contents is what Record.Spec holds as JSON. It never holds a private key or a token.
type contents struct {
	ServerType     string            `json:"server_type"`
	Location       string            `json:"location"`
	Image          string            `json:"image"`
	DockerPackages string            `json:"docker_packages"`
	AuthorizedKeys []string          `json:"authorized_keys,omitempty"`
	Labels         map[string]string `json:"labels,omitempty"`
	IdleTimeout    time.Duration     `json:"idle_timeout,omitempty"`
	ExpiresAt      time.Time         `json:"expires_at,omitzero"`
	Settings       json.RawMessage   `json:"settings,omitempty"`

	ServerID    int64  `json:"server_id,omitempty"`
	PrimaryIPID int64  `json:"primary_ip_id,omitempty"`
	KeyID       int64  `json:"key_id,omitempty"`
	IPv4        string `json:"ipv4,omitempty"`

	// ClientKey is the public half of the dedicated key, in authorized_keys form.
	ClientKey string `json:"client_key,omitempty"`
	// HostKeys are the keys that the host may show, in authorized_keys form: one, or two while the key is
	// rotated.
	HostKeys []string `json:"host_keys,omitempty"`
	// InjectedKey is the one of them that user data carries, "" once it was rotated away.
	InjectedKey string `json:"injected_key,omitempty"`
	// KeysPending is true while AuthorizedKeys are not on the host yet.
	KeysPending bool `json:"keys_pending,omitempty"`
	// LabelsPending is true while Labels are not on all three resources yet.
	LabelsPending bool `json:"labels_pending,omitempty"`
}

// operation names what an intent announces.
type operation string

const (
	creating operation = "create"
	changing operation = "change"
	purging  operation = "purge"
)

// step names an allocation that is about to be asked for.
type step string

const (
	allocatingKey    step = "ssh_key"
	allocatingIP     step = "primary_ip"
	allocatingServer step = "server"
)

// kind names what is allocated, in texts.
func (s step) kind() string {
	switch s {
	case allocatingKey:
		return "SSH key"
	case allocatingIP:
		return "primary IP"
	}
	return "server"
}

// intent is what Record.Intent holds as JSON: written before the first step of an operation and before
// each allocation, and removed after the last, so that a killed run is seen and finished by the next.
type intent struct {
	Operation operation `json:"operation"`
	Step      step      `json:"step,omitempty"`
	Since     time.Time `json:"since"`
}

// known is a record with its documents read.
type known struct {
	store.Record
	contents
	pending *intent
	// interrupted is true when the present operation found an intent of an earlier one.
	interrupted bool
}

func open(record store.Record) (*known, error) {
	k := &known{Record: record}
	if err := record.Decode(record.Spec, "record", &k.contents); err != nil {
		return nil, err
	}
	if len(record.Intent) > 0 {
		k.pending = &intent{}
		if err := record.Decode(record.Intent, "the intent of record", k.pending); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// seal writes the documents back into the record.
func (k *known) seal() (err error) {
	if k.Record.Spec, err = store.Encode(k.contents); err != nil {
		return err
	}
	k.Record.Intent = nil
	if k.pending != nil {
		k.Record.Intent, err = store.Encode(k.pending)
	}
	return err
}

func (k *known) id() string { return ID(k.Owner, k.Name) }

func (k *known) destroying() bool { return k.pending != nil && k.pending.Operation == purging }

// take copies what a request may change in the life of a host.
func (c *contents) take(request Request) {
	c.IdleTimeout, c.ExpiresAt, c.Settings = request.IdleTimeout, request.ExpiresAt.UTC(), request.Settings
	if request.ExpiresAt.IsZero() {
		c.ExpiresAt = time.Time{}
	}
	if !slices.Equal(c.AuthorizedKeys, request.AuthorizedKeys) {
		c.AuthorizedKeys, c.KeysPending = slices.Clone(request.AuthorizedKeys), true
	}
	if !maps.Equal(c.Labels, request.Labels) {
		c.Labels, c.LabelsPending = maps.Clone(request.Labels), true
	}
}

func (c *contents) fromRequest(request Request) {
	c.ServerType, c.Location, c.Image = request.ServerType, request.Location, request.Image
	c.DockerPackages = request.DockerPackages
	c.take(request)
	c.KeysPending, c.LabelsPending = false, false // what is made carries them
}

// marks are the labels that prove that a resource belongs to a record.
func (k *known) marks() map[string]string {
	return map[string]string{
		labelOwner: ownerLabel(k.Owner), labelName: k.Name, labelKind: RecordKind, labelRecord: k.ID,
	}
}

// labels are the user's and ours.
func (k *known) labels() map[string]string {
	all := maps.Clone(k.contents.Labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, k.marks())
	return all
}

// marked tells whether labels prove that a resource belongs to the record.
func (k *known) marked(labels map[string]string) bool {
	return labels[labelRecord] == k.ID && labels[labelOwner] == ownerLabel(k.Owner)
}

// userLabels are those that are not ours.
func userLabels(labels map[string]string) map[string]string {
	rest := map[string]string{}
	for key, value := range labels {
		if len(key) < len(ownLabels) || key[:len(ownLabels)] != ownLabels {
			rest[key] = value
		}
	}
	return rest
}

// ownerLabel is an owner as a label's value: itself where that is allowed, else a hash.
func ownerLabel(owner string) string {
	if owner != "" && labelValue.MatchString(owner) {
		return owner
	}
	sum := sha256.Sum256([]byte(owner))
	return "sha256-" + hex.EncodeToString(sum[:16])
}

// Names of what belongs to a host. The API keeps each unique in its project and kind.
func (k *known) serverName() string    { return k.Name }
func (k *known) primaryIPName() string { return "sandlot-" + k.Name + "-ipv4" }
func (k *known) keyName() string       { return "sandlot-" + k.Name }
