package handle

// Shape names one form of a record.
type Shape string

const (
	// VercelPersistent is the record of a named sandbox on Vercel.
	VercelPersistent Shape = "vercel-persistent"
	// VercelSession is the record of a session on Vercel, and of any record without a kind.
	VercelSession Shape = "vercel-session"
	// WorkspaceResource is the record that fits every backend.
	WorkspaceResource Shape = "workspace-resource"
	// Spawnbox is what attaching to an existing sandbox takes.
	Spawnbox Shape = "spawnbox"
	// Eve is the session state by which a sandbox is attached again.
	Eve Shape = "eve"
	// AgentEnv is a provider's handle: the specification and the public services.
	AgentEnv Shape = "agent-env"
)

// Shapes returns the names of all shapes, in the order of the documentation.
func Shapes() []string {
	return []string{
		string(VercelPersistent), string(VercelSession), string(WorkspaceResource),
		string(Spawnbox), string(Eve), string(AgentEnv),
	}
}
