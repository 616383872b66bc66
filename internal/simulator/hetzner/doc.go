// Package hetzner is a server that speaks the Hetzner Cloud API, as far as one needs for servers with
// their SSH keys and addresses, so that clients can be tested without an account. It is held to the
// vendor's own clients by the tests here.
//
// Behind the servers are [Guests]: none, an SSH server in this process (package sshguest), or real
// machines (package machines).
//
// What it leaves out is an error with the code unsupported_error or not_found, never a success that did
// nothing: volumes, networks, firewalls, load balancers, certificates, DNS, floating IPs, backups, rescue
// systems, mounted ISOs, consoles and metrics. A project is all that there is, and all tokens open it.
//
// It is stricter than the service where that shows mistakes: fields of a request that it does not know
// are refused.
//
// Where nobody has seen what the service does, [Settings] has a switch for each answer.
package hetzner
