// Package cloudhost carries owned cloud servers through their lives: prepare, commit, sleep, wake and
// purge. A host is one server, one primary IPv4 and one SSH key at Hetzner Cloud, and one record in the
// store that names all three.
//
// Each allocation is announced in the record before it is asked for, and its id is stored the moment the
// answer is there, so that a run killed at any point is finished or cleaned by the next one. What the API
// answers is never taken for absence unless it says "not found" about that very id.
//
// The keys of a host are made before the server. Whoever connects knows the host's key beforehand: nothing
// here ever trusts a key because it was the first one seen.
package cloudhost
