// Package sshguest is what stands behind simulated servers in the many tests that are about the API: an
// SSH server in the same process, with the host key that the user data injects, which answers exactly what
// a client asks to learn whether the host is ready, and the steps of a host key's rotation.
//
// It runs no command and boots nothing. It is never the proof that a host becomes ready: that is what the
// real machines are for.
package sshguest
