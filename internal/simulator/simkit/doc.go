// Package simkit holds what the simulators share: time, faults, the record of requests, the state
// folder, and the server on loopback.
package simkit
