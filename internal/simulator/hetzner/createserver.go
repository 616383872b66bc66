package hetzner

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
)

type createServerBody struct {
	settable
	ServerType       reference   `json:"server_type"`
	Image            reference   `json:"image"`
	Location         *reference  `json:"location"`
	SSHKeys          []reference `json:"ssh_keys"`
	UserData         string      `json:"user_data"`
	StartAfterCreate *bool       `json:"start_after_create"`
	Automount        *bool       `json:"automount"`
	Volumes          []int64     `json:"volumes"`
	Networks         []int64     `json:"networks"`
	Firewalls        []struct {
		Firewall int64 `json:"firewall"`
	} `json:"firewalls"`
	PlacementGroup int64 `json:"placement_group"`
	PublicNet      *struct {
		EnableIPv4 *bool `json:"enable_ipv4"`
		EnableIPv6 *bool `json:"enable_ipv6"`
		IPv4       int64 `json:"ipv4"`
		IPv6       int64 `json:"ipv6"`
	} `json:"public_net"`
}

type createServerAnswer struct {
	Server       serverView   `json:"server"`
	Action       actionView   `json:"action"`
	NextActions  []actionView `json:"next_actions"`
	RootPassword *string      `json:"root_password"`
}

// maxUserData in bytes.
const maxUserData = 32768

// order of a server: what a create asks for, resolved.
type serverOrder struct {
	body     createServerBody
	kind     *serverType
	image    *image
	location *location
	group    *placementGroup
	keys     []*sshKey
	// ips are the primary IPs that were named; implicit are the families to make one for.
	ips      []*primaryIP
	implicit []string
}

func (s *Simulator) createServer(c *call) (reply, error) {
	order, err := s.checkServerOrder(c)
	if err != nil {
		return reply{}, err
	}
	if err := s.checkServerRoom(order); err != nil {
		return reply{}, err
	}
	sv := &server{
		meta:   meta{ID: s.nextID(), Name: *order.body.Name, Labels: labelsOf(order.body.Labels), Created: s.now()},
		Status: statusInitializing, TypeID: order.kind.ID, LocationID: order.location.ID, ImageID: order.image.ID,
		DiskSize: order.kind.Disk, UserData: []byte(order.body.UserData),
	}
	for _, family := range order.implicit {
		ip, err := s.newPrimaryIP(family, "", sv.LocationID, map[string]string{})
		if err != nil {
			return reply{}, err
		}
		ip.AutoDelete = true
		order.ips = append(order.ips, ip)
	}
	for _, ip := range order.ips {
		ip.AssigneeID = sv.ID
	}
	for _, key := range order.keys {
		sv.PublicKeys = append(sv.PublicKeys, key.PublicKey)
	}
	if order.group != nil {
		sv.PlacementGroup = order.group.ID
	}
	s.servers[sv.ID] = sv
	answer := createServerAnswer{NextActions: []actionView{}}
	if len(order.keys) == 0 {
		answer.RootPassword = pointer(rand.Text()[:20])
	}
	create := s.begin(commandCreateServer, sv, nil)
	if start := order.body.StartAfterCreate; start == nil || *start {
		next := s.begin(commandStartServer, sv, func(a *action) { a.Waits = true })
		create.Next = next.ID
		answer.NextActions = append(answer.NextActions, s.viewAction(next))
	}
	answer.Server, answer.Action = s.viewServer(sv), s.viewAction(create)
	return reply{http.StatusCreated, answer}, nil
}

// checkServerOrder answers all that is 422.
func (s *Simulator) checkServerOrder(c *call) (*serverOrder, error) {
	o := &serverOrder{}
	if err := c.decodeBody(&o.body); err != nil {
		return nil, err
	}
	if o.body.Name == nil {
		return nil, missing("name")
	}
	if err := checkHostname(*o.body.Name); err != nil {
		return nil, err
	}
	if err := checkLabels(labelsOf(o.body.Labels)); err != nil {
		return nil, err
	}
	if len(o.body.UserData) > maxUserData {
		return nil, invalid("user_data", "Longer than maximum length %d.", maxUserData)
	}
	for field, given := range map[string]int{"volumes": len(o.body.Volumes), "networks": len(o.body.Networks), "firewalls": len(o.body.Firewalls)} {
		if given > 0 {
			return nil, unprocessable(codeUnsupported, "the simulator has no %s", field)
		}
	}
	if err := s.resolveCatalog(o); err != nil {
		return nil, err
	}
	if err := s.resolveObjects(o); err != nil {
		return nil, err
	}
	return o, s.resolveAddresses(o)
}

// resolveCatalog finds type, image and location, and refuses what does not go together.
func (s *Simulator) resolveCatalog(o *serverOrder) error {
	if o.body.ServerType == "" {
		return missing("server_type")
	}
	if o.body.Image == "" {
		return missing("image")
	}
	if o.kind = findServerType(string(o.body.ServerType)); o.kind == nil {
		return invalid("server_type", "server type %q not found", o.body.ServerType)
	}
	if o.image = s.findImage(string(o.body.Image)); o.image == nil || o.image.Status != "available" {
		return invalid("image", "image %q not found", o.body.Image)
	}
	if o.body.Location != nil {
		if o.location = findLocation(string(*o.body.Location)); o.location == nil {
			return invalid("location", "location %q not found", *o.body.Location)
		}
	} else {
		o.location = findLocation(o.kind.Locations[0])
	}
	now := s.now()
	if !slices.Contains(o.kind.Locations, o.location.Name) {
		return invalidAlone("unsupported location for server type")
	}
	if _, unavailable := s.deprecation(o.kind); elapsed(unavailable, now) {
		return invalidAlone("server type is no longer available")
	}
	if o.image.Architecture != o.kind.Architecture {
		return invalidAlone("image architecture differs from that of the server type")
	}
	if elapsed(o.image.UnavailableAfter, now) {
		return invalid("image", "image is no longer available")
	}
	if o.image.DiskSize > o.kind.Disk {
		return invalid("image", "image disk is bigger than server type disk")
	}
	return nil
}

// resolveObjects finds the SSH keys and the placement group.
func (s *Simulator) resolveObjects(o *serverOrder) error {
	for _, given := range o.body.SSHKeys {
		key := s.findSSHKey(string(given))
		if key == nil {
			return invalid("ssh_keys", "SSH key %q not found", given)
		}
		o.keys = append(o.keys, key)
	}
	if o.body.PlacementGroup == 0 {
		return nil
	}
	if o.group = s.groups[o.body.PlacementGroup]; o.group == nil {
		return invalid("placement_group", "placement group %d not found", o.body.PlacementGroup)
	}
	if len(s.viewPlacementGroup(o.group).Servers) >= maxGroup {
		return unprocessable(codePlacement, "the placement group is full")
	}
	return nil
}

// resolveAddresses finds the primary IPs, or the families that get one made.
func (s *Simulator) resolveAddresses(o *serverOrder) error {
	four, six, fourID, sixID := true, true, int64(0), int64(0)
	if net := o.body.PublicNet; net != nil {
		four, six = net.EnableIPv4 == nil || *net.EnableIPv4, net.EnableIPv6 == nil || *net.EnableIPv6
		fourID, sixID = net.IPv4, net.IPv6
	}
	if !four && !six {
		return invalid("public_net", "A server without a network needs an IPv4 or an IPv6.")
	}
	for _, want := range []struct {
		family  string
		enabled bool
		id      int64
	}{{ipv4, four, fourID}, {ipv6, six, sixID}} {
		if !want.enabled && want.id != 0 {
			return invalid("public_net."+want.family, "The address is given, and its family is off.")
		}
		if want.enabled && want.id == 0 {
			o.implicit = append(o.implicit, want.family)
		}
		if want.id == 0 {
			continue
		}
		ip := s.primaryIPs[want.id]
		switch {
		case ip == nil:
			return invalid("public_net."+want.family, "primary IP %d not found", want.id)
		case ip.AssigneeID != 0:
			return unprocessable(codeIPAssigned, "primary IP %d is already assigned", want.id)
		case ip.LocationID != o.location.ID:
			return unprocessable(codeDatacenterMismatch, "primary IP %d is in another location", want.id)
		}
		o.ips = append(o.ips, ip)
	}
	return nil
}

// checkServerRoom answers what is not 422: a taken name, the wrong family, no stock, the quota.
func (s *Simulator) checkServerRoom(o *serverOrder) error {
	if nameTaken(s.servers, *o.body.Name, 0) {
		return taken("name")
	}
	if net := o.body.PublicNet; net != nil {
		for _, ip := range o.ips {
			if net.IPv4 == ip.ID && ip.Type != ipv4 || net.IPv6 == ip.ID && ip.Type != ipv6 {
				return fail(http.StatusPreconditionFailed, codeVersionMismatch, "primary IP %s has another version", strconv.FormatInt(ip.ID, 10))
			}
		}
	}
	if s.settings.outOfStock(o.kind.Name, o.location.Name) {
		return fail(http.StatusPreconditionFailed, codeUnavailable, "error during placement")
	}
	if s.exceeds(limitServers, len(s.servers)+1) {
		return limitExceeded(limitServers)
	}
	if s.exceeds(limitPrimaryIPs, len(s.primaryIPs)+len(o.implicit)) {
		return limitExceeded(limitPrimaryIPs)
	}
	return nil
}

// exceeds tells whether a number of objects is beyond its quota.
func (s *Simulator) exceeds(limit string, number int) bool {
	most, bounded := s.settings.Quotas[limit]
	return bounded && number > most
}
