// Package hetzner speaks to the Hetzner Cloud API about servers, primary addresses, SSH keys and the
// catalog. It is the only package that imports the vendor's client. What is done with a host and in
// which order is decided above, in cloudhost; here is how one call is made: bounded, signed, seen by the
// observer, its failures typed and free of secrets.
//
// Sections in comments are those of the project's contract of the API.
package hetzner
