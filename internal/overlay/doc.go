// Package overlay collects the template files of base snapshots and workspaces: what is put into a
// sandbox from files and directories of this machine, or from content given directly.
//
// What was collected is described by path, permissions and hash alone. Neither modification times
// nor the umask of whoever checked the files out count, so that two machines with the same files
// agree.
package overlay
