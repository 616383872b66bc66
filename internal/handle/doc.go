// Package handle writes and reads the records by which applications remember a sandbox.
//
// Each application has a shape of its own, with names that differ for the same thing. Inside there
// is one neutral [Object]; the applications' words appear only where a record is printed or parsed.
// The package is pure: no input or output, no clock, none of our other packages.
//
// The shapes are copies of what other projects publish, and nothing tells us when those change. The
// golden records in the tests say where each shape was taken from; compare them when you touch one.
package handle
