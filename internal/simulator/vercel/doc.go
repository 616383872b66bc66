// Package vercel is a server that speaks the REST API of Vercel Sandbox, generations 2 to 4, so that
// clients can be tested without an account. It is held to the vendor's own SDK by the tests here.
//
// Sandboxes, sessions and snapshots live by the rules of the service: a persistent sandbox is saved
// when its session ends, retention and expiry evict snapshots, and only a read with resume=true boots
// a new session. Commands and files are real: they run in sandboxes of the local backend, one for
// each session, and a snapshot is a copy of the session's disk.
//
// What the executor cannot do is an error with the code simulator_unsupported or a failing command,
// never a success that did nothing:
//
//   - Only the working directory, the home and /tmp can be written. The rest of the file system is the
//     host's /usr, read-only, whatever image or runtime was asked for.
//   - Commands run as one user; sudo is refused unless [Settings.SudoWithoutRoot] is set.
//   - Commands have no network, whatever the policy says. The policy is kept and answered.
//   - Ports have routes, but nothing serves their URLs.
//   - Each command has processes of its own, and what it left running ends with it.
//   - Git and tarball sources come from [Config.Sources]; the simulator fetches nothing.
//   - Drives, interactive terminals and the first generation of the API are left out.
//
// Where nobody has seen what the service does, [Settings] has a switch for each answer.
package vercel
