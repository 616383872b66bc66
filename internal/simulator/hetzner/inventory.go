package hetzner

import "maps"

// Inventory is what there is, for assertions. Objects stand in the order in which they were made.
type Inventory struct {
	Servers    []ServerEntry    `json:"servers"`
	PrimaryIPs []PrimaryIPEntry `json:"primaryIPs"`
	SSHKeys    []SSHKeyEntry    `json:"sshKeys"`
	Images     []ImageEntry     `json:"images"` // those of the project
	Actions    []ActionEntry    `json:"actions"`
	// GuestErrors are what went wrong behind the servers that no action could tell.
	GuestErrors []string `json:"guestErrors,omitempty"`
}

// ServerEntry is a server. What the service never shows is here, too.
type ServerEntry struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Status     string            `json:"status"`
	Locked     bool              `json:"locked,omitempty"`
	Labels     map[string]string `json:"labels"`
	ServerType string            `json:"serverType"`
	Location   string            `json:"location"`
	Image      string            `json:"image"`
	IPv4       string            `json:"ipv4,omitempty"`
	IPv6       string            `json:"ipv6,omitempty"`
	UserData   []byte            `json:"userData,omitempty"`
	PublicKeys []string          `json:"publicKeys,omitempty"`
	// Starts counts how often it was started.
	Starts int `json:"starts"`
	// Removed is a server that is gone, while its name and its addresses are still taken.
	Removed bool `json:"removed,omitempty"`
}

// PrimaryIPEntry is a primary IP.
type PrimaryIPEntry struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	IP         string            `json:"ip"`
	Labels     map[string]string `json:"labels"`
	Assignee   int64             `json:"assignee,omitempty"`
	AutoDelete bool              `json:"autoDelete,omitempty"`
}

// SSHKeyEntry is an SSH key.
type SSHKeyEntry struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Fingerprint string            `json:"fingerprint"`
}

// ImageEntry is a snapshot.
type ImageEntry struct {
	ID          int64             `json:"id"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
}

// ActionEntry is an action, whatever its age.
type ActionEntry struct {
	ID      int64  `json:"id"`
	Command string `json:"command"`
	Status  string `json:"status"`
	Server  int64  `json:"server,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Inventory returns what there is now.
func (s *Simulator) Inventory() Inventory {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := Inventory{
		Servers: []ServerEntry{}, PrimaryIPs: []PrimaryIPEntry{}, SSHKeys: []SSHKeyEntry{}, Images: []ImageEntry{}, Actions: []ActionEntry{},
		GuestErrors: append([]string(nil), s.guestErrors...),
	}
	for _, sv := range sorted(s.servers) {
		entry := ServerEntry{
			ID: sv.ID, Name: sv.Name, Status: string(sv.Status), Locked: s.locked(sv), Labels: maps.Clone(sv.Labels),
			ServerType: serverTypeByID(sv.TypeID).Name, Location: locationByID(sv.LocationID).Name,
			UserData: sv.UserData, PublicKeys: sv.PublicKeys, Starts: sv.BootSerial, Removed: sv.Removed,
		}
		if from := s.images[sv.ImageID]; from != nil {
			entry.Image = from.Name
		}
		for _, ip := range s.ipsOf(sv.ID) {
			if ip.Type == ipv4 {
				entry.IPv4 = ip.text()
			} else {
				entry.IPv6 = ip.text()
			}
		}
		all.Servers = append(all.Servers, entry)
	}
	for _, ip := range sorted(s.primaryIPs) {
		all.PrimaryIPs = append(all.PrimaryIPs, PrimaryIPEntry{ip.ID, ip.Name, ip.text(), maps.Clone(ip.Labels), ip.AssigneeID, ip.AutoDelete})
	}
	for _, key := range sorted(s.sshKeys) {
		all.SSHKeys = append(all.SSHKeys, SSHKeyEntry{key.ID, key.Name, maps.Clone(key.Labels), key.Fingerprint})
	}
	for _, one := range s.ownImages() {
		all.Images = append(all.Images, ImageEntry{one.ID, one.Description, maps.Clone(one.Labels)})
	}
	for _, a := range s.sortedActions() {
		entry := ActionEntry{ID: a.ID, Command: a.Command, Status: string(a.Status), Server: a.Server}
		if a.Status == actionError {
			entry.Error = s.viewAction(a).Error.Code
		}
		all.Actions = append(all.Actions, entry)
	}
	return all
}
