package handle

import (
	"strconv"
	"time"
)

// The variables that the application reads.
const (
	envMode           = "BORING_AGENT_MODE"
	envWorkspaceRoot  = "BORING_AGENT_WORKSPACE_ROOT"
	envChannel        = "BORING_AGENT_VERCEL_SANDBOX_CHANNEL"
	envNamePrefix     = "BORING_AGENT_VERCEL_SANDBOX_NAME_PREFIX"
	envNamespace      = "BORING_AGENT_VERCEL_SANDBOX_NAMESPACE"
	envTimeout        = "BORING_AGENT_VERCEL_SANDBOX_TIMEOUT_MS"
	envSnapshotKeep   = "BORING_AGENT_SNAPSHOT_KEEP"
	envBaseID         = "BORING_AGENT_VERCEL_BASE_SNAPSHOT_ID"
	envBaseVersion    = "BORING_AGENT_VERCEL_BASE_SNAPSHOT_VERSION"
	envBaseRuntime    = "BORING_AGENT_VERCEL_BASE_SNAPSHOT_RUNTIME"
	envBaseManifest   = "BORING_AGENT_VERCEL_BASE_SNAPSHOT_MANIFEST_PATH"
	envBaseCache      = "BORING_AGENT_VERCEL_BASE_SNAPSHOT_CACHE_PATH"
	modeDirect        = "direct"
	modeLocal         = "local"
	modeVercel        = "vercel-sandbox"
	channelStable     = "stable"
	channelPersistent = "persistent-beta"
	localBackend      = "local"
)

// Settings are what an application's environment tells beside the object itself. A zero member is
// left out.
type Settings struct {
	// NamePrefix and Namespace are those that the name was derived from; "" for an explicit name.
	NamePrefix string
	Namespace  string
	Timeout    time.Duration // of a session
	// SnapshotKeep is how many snapshots stay; nil when not set, since 0 is a value.
	SnapshotKeep *int64
	// ManifestPath and CachePath are files of the application, not of the sandbox.
	ManifestPath string
	CachePath    string
}

// AgentEnvironment returns the environment variables that point an application at the object: those
// that are known, and never a secret.
//
// The mode exists for Vercel, for local, and for a bare directory on local, which the application
// works in directly. Docker and the other backends have no counterpart there, so that no mode is
// returned for them, nor anything else. A base snapshot without its version is an error.
func AgentEnvironment(o Object, s Settings) (map[string]string, error) {
	environment := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			environment[name] = value
		}
	}
	switch o.Backend {
	case localBackend:
		if o.Kind == KindVolume {
			set(envMode, modeDirect)
		} else {
			set(envMode, modeLocal)
		}
		set(envWorkspaceRoot, o.Directory)
	case vercel:
		if o.BaseSnapshotID != "" && o.BaseSnapshotVersion == "" {
			return nil, &EnvironmentError{Variable: envBaseVersion, Problem: "has no value, but " + envBaseID + " has one"}
		}
		set(envMode, modeVercel)
		set(envChannel, channel(o.Kind))
		set(envNamePrefix, s.NamePrefix)
		set(envNamespace, s.Namespace)
		if ms := s.Timeout.Milliseconds(); ms > 0 {
			set(envTimeout, strconv.FormatInt(ms, 10))
		}
		if s.SnapshotKeep != nil {
			set(envSnapshotKeep, strconv.FormatInt(*s.SnapshotKeep, 10))
		}
		if o.BaseSnapshotID != "" {
			set(envBaseID, o.BaseSnapshotID)
			set(envBaseVersion, o.BaseSnapshotVersion)
			set(envBaseRuntime, o.Runtime)
		}
		set(envBaseManifest, s.ManifestPath)
		set(envBaseCache, s.CachePath)
	}
	return environment, nil
}

func channel(kind string) string {
	switch kind {
	case KindPersistent:
		return channelPersistent
	case KindSession:
		return channelStable
	}
	return ""
}
