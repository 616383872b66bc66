// Package basesnapshot bakes the snapshots that new workspaces start from, and keeps the registry of
// them.
//
// A base snapshot lives in a lane: one application, one template, one runtime. A lane has at most one
// current snapshot. A changed manifest bakes a new one beside it and then moves the pointer, so that
// a bake that fails changes nothing, and reverting the manifest reuses the old one at once. Lanes
// whose manifests are equal share the snapshot itself.
//
// Two locks guard all of it: one of the lane, and below it one of the manifest's hash, so that any
// number of bakers of one manifest make it once. Whoever holds the second never waits for another
// lock.
package basesnapshot
