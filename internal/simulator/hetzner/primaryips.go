package hetzner

import (
	"net/http"
	"slices"
)

type primaryIPAnswer struct {
	PrimaryIP primaryIPView `json:"primary_ip"`
}

type createPrimaryIPAnswer struct {
	PrimaryIP primaryIPView `json:"primary_ip"`
	Action    *actionView   `json:"action"`
}

// primaryIP finds the one that the path names. The mutex is held.
func (s *Simulator) primaryIP(c *call) (*primaryIP, error) {
	if ip := s.primaryIPs[c.id(0)]; ip != nil {
		return ip, nil
	}
	return nil, notFound("primary_ip", c.path[0])
}

func (s *Simulator) getPrimaryIP(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, primaryIPAnswer{s.viewPrimaryIP(ip)}}, nil
}

func (s *Simulator) listPrimaryIPs(c *call) (reply, error) {
	all, err := labeled(c, values(c, s.primaryIPs))
	if err != nil {
		return reply{}, err
	}
	wanted := c.request.URL.Query().Get("ip")
	all = slices.DeleteFunc(all, func(ip *primaryIP) bool { return wanted != "" && ip.Address.String() != wanted && ip.text() != wanted })
	return list(c, "primary_ips", all, orders[*primaryIP]("id", "created"), s.viewPrimaryIP)
}

func (s *Simulator) createPrimaryIP(c *call) (reply, error) {
	var body struct {
		settable
		Type         string     `json:"type"`
		Location     *reference `json:"location"`
		AssigneeID   *int64     `json:"assignee_id"`
		AssigneeType *string    `json:"assignee_type"`
		AutoDelete   bool       `json:"auto_delete"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Name == nil {
		return reply{}, missing("name")
	}
	if err := checkName(*body.Name); err != nil {
		return reply{}, err
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if body.Type != ipv4 && body.Type != ipv6 {
		return reply{}, invalid("type", "Must be one of: ipv4, ipv6.")
	}
	if body.AssigneeType != nil && *body.AssigneeType != typeServer {
		return reply{}, invalid("assignee_type", "Must be one of: server.")
	}
	if (body.Location == nil) == (body.AssigneeID == nil) {
		err := invalid("location", "Either location or assignee_id must be given.")
		err.details = fieldDetails{[]fieldDetail{
			{"location", []string{"Either location or assignee_id must be given."}}, {"assignee_id", []string{"Either location or assignee_id must be given."}},
		}}
		return reply{}, err
	}
	var where *location
	var assignee *server
	if body.Location != nil {
		if where = findLocation(string(*body.Location)); where == nil {
			return reply{}, invalid("location", "location %q not found", *body.Location)
		}
	} else {
		if body.AssigneeType == nil {
			return reply{}, missing("assignee_type")
		}
		if assignee = s.servers[*body.AssigneeID]; assignee == nil || assignee.Removed {
			return reply{}, invalid("assignee_id", "server %d not found", *body.AssigneeID)
		}
		where = locationByID(assignee.LocationID)
		if err := s.checkAssignable(assignee, body.Type); err != nil {
			return reply{}, err
		}
	}
	if nameTaken(s.primaryIPs, *body.Name, 0) {
		return reply{}, taken("name")
	}
	if s.exceeds(limitPrimaryIPs, len(s.primaryIPs)+1) {
		return reply{}, limitExceeded(limitPrimaryIPs)
	}
	ip, err := s.newPrimaryIP(body.Type, *body.Name, where.ID, labelsOf(body.Labels))
	if err != nil {
		return reply{}, err
	}
	ip.AutoDelete = body.AutoDelete
	answer := createPrimaryIPAnswer{}
	if assignee != nil {
		answer.Action = pointer(s.viewAction(s.assign(assignee, ip)))
	}
	answer.PrimaryIP = s.viewPrimaryIP(ip)
	return reply{http.StatusCreated, answer}, nil
}

// checkAssignable tells why a server cannot take an address of a family.
func (s *Simulator) checkAssignable(sv *server, family string) error {
	if err := s.checkStopped(sv); err != nil {
		return err
	}
	if s.ipOf(sv.ID, family) != nil {
		return unprocessable(map[string]string{ipv4: codeHasIPv4, ipv6: codeHasIPv6}[family], "the server has an %s already", family)
	}
	return s.checkUnlocked(sv)
}

func (s *Simulator) assign(sv *server, ip *primaryIP) *action {
	ip.AssigneeID = sv.ID
	return s.begin(commandAssignIP, sv, func(a *action) {
		a.PrimaryIP = ip.ID
		a.Resources = append(a.Resources, resource{ip.ID, typePrimaryIP})
	})
}

func (s *Simulator) updatePrimaryIP(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		settable
		AutoDelete *bool `json:"auto_delete"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Name != nil {
		if err := checkName(*body.Name); err != nil {
			return reply{}, err
		}
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if body.AutoDelete != nil && *body.AutoDelete && ip.ProtectDelete {
		return reply{}, invalid("auto_delete", "A protected primary IP cannot be deleted automatically.")
	}
	if body.Name != nil && nameTaken(s.primaryIPs, *body.Name, ip.ID) {
		return reply{}, taken("name")
	}
	body.apply(&ip.meta)
	if body.AutoDelete != nil {
		ip.AutoDelete = *body.AutoDelete
	}
	return reply{http.StatusOK, primaryIPAnswer{s.viewPrimaryIP(ip)}}, nil
}

func (s *Simulator) deletePrimaryIP(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	if ip.AssigneeID != 0 {
		return reply{}, unprocessable(codeMustBeUnassigned, "primary IP must be unassigned")
	}
	if ip.ProtectDelete {
		return reply{}, protected("primary IP")
	}
	if err := s.checkIPUnlocked(ip); err != nil {
		return reply{}, err
	}
	s.removePrimaryIP(ip)
	return reply{status: http.StatusNoContent}, nil
}

func (s *Simulator) checkIPUnlocked(ip *primaryIP) error {
	if s.busy(func(a *action) bool { return a.PrimaryIP == ip.ID }) {
		return fail(http.StatusLocked, codeLocked, "primary IP is locked")
	}
	return nil
}

func (s *Simulator) assignPrimaryIP(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		AssigneeID   *int64  `json:"assignee_id"`
		AssigneeType *string `json:"assignee_type"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.AssigneeID == nil {
		return reply{}, missing("assignee_id")
	}
	if body.AssigneeType == nil {
		return reply{}, missing("assignee_type")
	}
	if *body.AssigneeType != typeServer {
		return reply{}, invalid("assignee_type", "Must be one of: server.")
	}
	sv := s.servers[*body.AssigneeID]
	if sv == nil || sv.Removed {
		return reply{}, invalid("assignee_id", "server %d not found", *body.AssigneeID)
	}
	if ip.AssigneeID != 0 {
		return reply{}, unprocessable(codeAlreadyAssigned, "primary IP is already assigned")
	}
	if ip.LocationID != sv.LocationID {
		return reply{}, unprocessable(codeDatacenterMismatch, "primary IP is in another location")
	}
	if err := s.checkAssignable(sv, ip.Type); err != nil {
		return reply{}, err
	}
	if err := s.checkIPUnlocked(ip); err != nil {
		return reply{}, err
	}
	return s.accepted(http.StatusCreated, s.assign(sv, ip))
}

func (s *Simulator) unassignPrimaryIP(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	sv := s.servers[ip.AssigneeID]
	if sv == nil {
		return reply{}, invalidAlone("primary IP is not assigned")
	}
	if err := s.checkStopped(sv); err != nil {
		return reply{}, err
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	return s.accepted(http.StatusCreated, s.begin(commandUnassignIP, sv, func(a *action) {
		a.PrimaryIP = ip.ID
		a.Resources = append(a.Resources, resource{ip.ID, typePrimaryIP})
	}))
}

func (s *Simulator) changePrimaryIPProtection(c *call) (reply, error) {
	ip, err := s.primaryIP(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Delete *bool `json:"delete"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Delete == nil {
		return reply{}, missing("delete")
	}
	if *body.Delete && ip.AutoDelete {
		return reply{}, invalid("delete", "A primary IP that is deleted automatically cannot be protected.")
	}
	ip.ProtectDelete = *body.Delete
	return s.accepted(http.StatusCreated, s.done(commandChangeProtection, resource{ip.ID, typePrimaryIP}))
}
