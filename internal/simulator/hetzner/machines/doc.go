// Package machines puts real machines behind the servers of the simulated Hetzner Cloud: each is a
// Debian 13 with systemd, cloud-init and sshd in a container of the local Docker Engine. It boots from
// the user data of the request, and has an address that this machine reaches.
//
// It is for machines that may be thrown away: the containers have capabilities that make them no
// boundary. Run nothing in them but your own user data.
//
// What differs from a server of the service:
//
//   - The kernel, its modules, the clock and the sizes of memory and disk are the host's.
//   - All images are refused but debian-13: snapshots have no disk behind them.
//   - A machine that restarts itself stays off: the engine cannot tell that from a shutdown. A reboot by
//     the API works.
//   - There are no metadata addresses; cloud-init reads the user data from a folder.
//   - There is no IPv6.
package machines
