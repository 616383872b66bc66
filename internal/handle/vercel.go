package handle

import "strings"

const vercel = "vercel"

// sessionPrefix starts the id of every session on Vercel.
const sessionPrefix = "sbx_"

// vercelPersistentRecord is one arm of the application's union of records. The keys after
// lastSeenAt were added later, and readers do without them.
type vercelPersistentRecord struct {
	Kind                Shape  `json:"kind"`
	WorkspaceID         string `json:"workspaceId"`
	SandboxName         string `json:"sandboxName"`
	CurrentSessionID    string `json:"currentSessionId,omitempty"`
	CurrentSnapshotID   string `json:"currentSnapshotId,omitempty"`
	Status              string `json:"status,omitempty"`
	Persistent          bool   `json:"persistent"`
	CreatedAt           string `json:"createdAt"`
	LastUsedAt          string `json:"lastUsedAt"`
	LastSeenAt          string `json:"lastSeenAt,omitempty"`
	BaseSnapshotID      string `json:"baseSnapshotId,omitempty"`
	BaseSnapshotVersion string `json:"baseSnapshotVersion,omitempty"`
	Runtime             string `json:"runtime,omitempty"`
	HandleKind          string `json:"handleKind"`
}

// vercelSessionRecord is the other arm. Its snapshot was called snapshotId first; both keys are
// printed, for readers of either age.
type vercelSessionRecord struct {
	Kind                Shape  `json:"kind"`
	WorkspaceID         string `json:"workspaceId"`
	SandboxID           string `json:"sandboxId"`
	SnapshotID          string `json:"snapshotId,omitempty"`
	CreatedAt           string `json:"createdAt"`
	LastUsedAt          string `json:"lastUsedAt"`
	CurrentSnapshotID   string `json:"currentSnapshotId,omitempty"`
	BaseSnapshotID      string `json:"baseSnapshotId,omitempty"`
	BaseSnapshotVersion string `json:"baseSnapshotVersion,omitempty"`
	Runtime             string `json:"runtime,omitempty"`
	HandleKind          string `json:"handleKind"`
}

func printVercelPersistent(o Object) (any, error) {
	if err := fitVercel(VercelPersistent, KindPersistent, o); err != nil {
		return nil, err
	}
	err := need(VercelPersistent, required{"workspaceId", o.WorkspaceID}, required{"sandboxName", o.Name}, required{"createdAt", FormatTime(o.CreatedAt)})
	switch {
	case err != nil:
		return nil, err
	case namedLikeSession(o.Name):
		return nil, &KeyError{Shape: VercelPersistent, Key: "sandboxName", Problem: sessionName}
	}
	return vercelPersistentRecord{
		Kind: VercelPersistent, WorkspaceID: o.WorkspaceID, SandboxName: o.Name,
		CurrentSessionID: o.SessionID, CurrentSnapshotID: o.SnapshotID, Status: o.Status, Persistent: true,
		CreatedAt: FormatTime(o.CreatedAt), LastUsedAt: FormatTime(o.lastUsed()), LastSeenAt: FormatTime(o.LastSeenAt),
		BaseSnapshotID: o.BaseSnapshotID, BaseSnapshotVersion: o.BaseSnapshotVersion, Runtime: o.Runtime,
		HandleKind: handleKind(KindPersistent),
	}, nil
}

func printVercelSession(o Object) (any, error) {
	if err := fitVercel(VercelSession, KindSession, o); err != nil {
		return nil, err
	}
	err := need(VercelSession, required{"workspaceId", o.WorkspaceID}, required{"sandboxId", o.SessionID}, required{"createdAt", FormatTime(o.CreatedAt)})
	if err != nil {
		return nil, err
	}
	return vercelSessionRecord{
		Kind: VercelSession, WorkspaceID: o.WorkspaceID, SandboxID: o.SessionID, SnapshotID: o.SnapshotID,
		CreatedAt: FormatTime(o.CreatedAt), LastUsedAt: FormatTime(o.lastUsed()), CurrentSnapshotID: o.SnapshotID,
		BaseSnapshotID: o.BaseSnapshotID, BaseSnapshotVersion: o.BaseSnapshotVersion, Runtime: o.Runtime,
		HandleKind: handleKind(KindSession),
	}, nil
}

// fitVercel refuses other backends, and the other kind: taking a session for something durable, or
// the other way round, loses a workspace without a word.
func fitVercel(shape Shape, kind string, o Object) error {
	switch {
	case o.Backend != vercel:
		return &MismatchError{
			Shape: shape, Backend: o.Backend, Kind: o.Kind,
			Wants:  "It describes sandboxes on the backend \"vercel\" only",
			Remedy: "Ask for " + string(WorkspaceResource) + ", which fits every backend",
		}
	case o.Kind != kind:
		mismatch := &MismatchError{
			Shape: shape, Backend: o.Backend, Kind: o.Kind,
			Wants:  "It describes objects of the kind " + quote(kind) + " only",
			Remedy: "Ask for " + string(WorkspaceResource) + ", which fits every kind",
		}
		switch o.Kind {
		case KindPersistent:
			mismatch.Remedy = otherKind(VercelPersistent)
		case KindSession:
			mismatch.Remedy = otherKind(VercelSession)
		}
		return mismatch
	}
	return nil
}

func otherKind(fits Shape) string {
	return "Ask for " + string(fits) + ". An object does not change its kind: to move a workspace to the other one, reset it explicitly, by making a new object with the resource of that kind"
}

// Both arms read their identity first: what is wrong with that is told before anything else.
func parseVercelPersistent(f *fields) Object {
	name := f.needText("sandboxName")
	if namedLikeSession(name) {
		f.fail("sandboxName", sessionName)
	}
	if persistent := f.flag("persistent"); persistent != nil && !*persistent {
		f.fail("persistent", "is false")
	}
	o := parseVercelCommon(f, KindPersistent)
	o.Name, o.SessionID, o.SnapshotID = name, f.text("currentSessionId"), f.text("currentSnapshotId")
	o.Status, o.LastSeenAt = f.text("status"), f.time("lastSeenAt")
	o.State = stateOf(o.Status)
	return o
}

func parseVercelSession(f *fields) Object {
	id := f.needText("sandboxId")
	o := parseVercelCommon(f, KindSession)
	o.SessionID, o.SnapshotID = id, f.text("snapshotId")
	if newer := f.text("currentSnapshotId"); newer != "" {
		o.SnapshotID = newer
	}
	// Before there were kinds, one release already kept the name of a sandbox under sandboxId.
	if !f.has("kind") && !namedLikeSession(id) {
		o.Name = id
	}
	o.State = stateOf("")
	return o
}

func parseVercelCommon(f *fields, kind string) Object {
	if declared := f.text("handleKind"); declared != "" && declared != handleKind(kind) {
		f.fail("handleKind", "is "+quote(declared)+", but the record is of the kind "+quote(handleKind(kind)))
	}
	return Object{
		Backend: vercel, Kind: kind, ResourceKind: ResourceSandbox, WorkspaceID: f.needText("workspaceId"),
		BaseSnapshotID: f.text("baseSnapshotId"), BaseSnapshotVersion: f.text("baseSnapshotVersion"), Runtime: f.text("runtime"),
		CreatedAt: f.needTime("createdAt"), LastUsedAt: f.needTime("lastUsedAt"),
	}
}

// namedLikeSession keeps the id of a session from being filed as something durable.
func namedLikeSession(name string) bool { return strings.HasPrefix(name, sessionPrefix) }

const sessionName = "starts with " + sessionPrefix + ": that is the id of a session, not the name of a persistent sandbox"

// stateOf maps the platform's statuses. Without one the object counts as ready, since a record is
// filed only after its sandbox was made.
func stateOf(status string) State {
	switch status {
	case "pending":
		return StateProvisioning
	case "stopped", "stopping", "snapshotting":
		return StateStopped
	case "failed", "aborted":
		return StateError
	}
	return StateReady
}
