package handle

// resourceRecord is the neutral record: the same keys for every backend.
type resourceRecord struct {
	WorkspaceID         string         `json:"workspaceId"`
	Provider            string         `json:"provider"`
	ResourceKind        string         `json:"resourceKind"`
	HandleKind          string         `json:"handleKind"`
	Handle              string         `json:"handle"`
	CurrentSessionID    string         `json:"currentSessionId,omitempty"`
	CurrentSnapshotID   string         `json:"currentSnapshotId,omitempty"`
	BaseSnapshotID      string         `json:"baseSnapshotId,omitempty"`
	BaseSnapshotVersion string         `json:"baseSnapshotVersion,omitempty"`
	TemplateVersion     string         `json:"templateVersion,omitempty"`
	Runtime             string         `json:"runtime,omitempty"`
	State               State          `json:"state"`
	Status              string         `json:"status,omitempty"`
	ExpiresAt           string         `json:"expiresAt,omitempty"`
	ProvisionLockToken  string         `json:"provisionLockToken,omitempty"`
	Metadata            map[string]any `json:"metadata,omitempty"`
	CreatedAt           string         `json:"createdAt"`
	UpdatedAt           string         `json:"updatedAt"`
	LastUsedAt          string         `json:"lastUsedAt,omitempty"`
	LastSeenAt          string         `json:"lastSeenAt,omitempty"`
}

func printResource(o Object) (any, error) {
	err := need(WorkspaceResource,
		required{"workspaceId", o.WorkspaceID}, required{"provider", o.Backend}, required{"handleKind", o.Kind},
		required{"handle", o.Handle()}, required{"state", string(o.State)}, required{"createdAt", FormatTime(o.CreatedAt)})
	switch {
	case err != nil:
		return nil, err
	case !o.State.valid():
		return nil, &KeyError{Shape: WorkspaceResource, Key: "state", Problem: notAState}
	case o.misnamed():
		return nil, &KeyError{Shape: WorkspaceResource, Key: "handle", Problem: sessionName}
	}
	record := resourceRecord{
		WorkspaceID: o.WorkspaceID, Provider: o.Backend, ResourceKind: o.resourceKind(),
		HandleKind: handleKind(o.Kind), Handle: o.Handle(),
		CurrentSessionID: o.SessionID, CurrentSnapshotID: o.SnapshotID,
		BaseSnapshotID: o.BaseSnapshotID, BaseSnapshotVersion: o.BaseSnapshotVersion,
		TemplateVersion: o.TemplateVersion, Runtime: o.Runtime,
		State: o.State, Status: o.Status, ExpiresAt: FormatTime(o.ExpiresAt),
		ProvisionLockToken: o.ProvisionLockToken, Metadata: o.Metadata,
		CreatedAt: FormatTime(o.CreatedAt), UpdatedAt: FormatTime(o.updated()),
		LastUsedAt: FormatTime(o.LastUsedAt), LastSeenAt: FormatTime(o.LastSeenAt),
	}
	if o.knownBySession() {
		record.CurrentSessionID = "" // the handle says it
	}
	return record, nil
}

func parseResource(f *fields) Object {
	o := Object{
		WorkspaceID: f.needText("workspaceId"), Backend: f.needText("provider"),
		ResourceKind: f.needText("resourceKind"), Kind: kindOf(f.needText("handleKind")),
		SessionID: f.text("currentSessionId"), SnapshotID: f.text("currentSnapshotId"),
		BaseSnapshotID: f.text("baseSnapshotId"), BaseSnapshotVersion: f.text("baseSnapshotVersion"),
		TemplateVersion: f.text("templateVersion"), Runtime: f.text("runtime"),
		State: State(f.needText("state")), Status: f.text("status"), ExpiresAt: f.time("expiresAt"),
		ProvisionLockToken: f.text("provisionLockToken"),
		CreatedAt:          f.needTime("createdAt"), UpdatedAt: f.needTime("updatedAt"),
		LastUsedAt: f.time("lastUsedAt"), LastSeenAt: f.time("lastSeenAt"),
	}
	f.read("metadata", "an object", &o.Metadata)
	if !o.State.valid() {
		f.fail("state", notAState)
	}
	o.setHandle(f.needText("handle"))
	if o.misnamed() {
		f.fail("handle", sessionName)
	}
	return o
}

// Handle is what the object is found by: its name, the directory of a volume, or the id of a
// session on Vercel.
func (o Object) Handle() string {
	switch {
	case o.knownBySession():
		return o.SessionID
	case o.Kind == KindVolume:
		return o.Directory
	}
	return o.Name
}

func (o *Object) setHandle(handle string) {
	switch {
	case o.knownBySession():
		o.SessionID = handle
	case o.Kind == KindVolume:
		o.Directory = handle
	default:
		o.Name = handle
	}
}

// knownBySession is true for the one case in which a session id is the identity. Elsewhere it
// changes with each start.
func (o Object) knownBySession() bool { return o.Backend == vercel && o.Kind == KindSession }

func (o Object) misnamed() bool {
	return o.Backend == vercel && o.Kind == KindPersistent && namedLikeSession(o.Name)
}

func (o Object) resourceKind() string {
	switch {
	case o.ResourceKind != "":
		return o.ResourceKind
	case o.Kind == KindVolume:
		return ResourceVolume
	}
	return ResourceSandbox
}

// HandleKind says, in the words of the workspace resource, what Handle is.
func (o Object) HandleKind() string { return handleKind(o.Kind) }

func handleKind(kind string) string {
	switch kind {
	case KindPersistent:
		return "persistent-name"
	case KindVolume:
		return "volume-path"
	}
	return kind // "session", and what we do not know
}

func kindOf(handleKind string) string {
	switch handleKind {
	case "persistent-name":
		return KindPersistent
	case "volume-path":
		return KindVolume
	}
	return handleKind
}

const notAState = "is none of pending, provisioning, ready, stopped and error"

func (s State) valid() bool {
	switch s {
	case StatePending, StateProvisioning, StateReady, StateStopped, StateError:
		return true
	}
	return false
}
