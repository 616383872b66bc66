package hetzner

import (
	"net/http"
	"slices"
)

type serverAnswer struct {
	Server serverView `json:"server"`
}

// server finds the one that the path names. The mutex is held.
func (s *Simulator) server(c *call) (*server, error) {
	sv := s.servers[c.id(0)]
	if sv == nil || sv.Removed || sv.Status == statusDeleting && s.settings.DeletingGone {
		return nil, notFound("server", c.path[0])
	}
	return sv, nil
}

func (s *Simulator) getServer(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, serverAnswer{s.viewServer(sv)}}, nil
}

func (s *Simulator) listServers(c *call) (reply, error) {
	query := c.request.URL.Query()
	for _, given := range query["status"] {
		if !slices.Contains(statuses, status(given)) {
			return reply{}, invalid("status", "%q is not a status.", given)
		}
	}
	all, err := labeled(c, values(c, s.servers))
	if err != nil {
		return reply{}, err
	}
	all = slices.DeleteFunc(all, func(sv *server) bool {
		return sv.Removed || sv.Status == statusDeleting && s.settings.DeletingGone || !among(query, "status", string(sv.Status))
	})
	return list(c, "servers", all, orders[*server]("id", "name", "created"), s.viewServer)
}

var statuses = []status{
	statusInitializing, statusStarting, statusRunning, statusStopping, statusOff, statusDeleting, statusMigrating, statusRebuilding, statusUnknown,
}

// settable is what an update of most objects may name. An absent member stays as it is.
type settable struct {
	Name   *string            `json:"name"`
	Labels *map[string]string `json:"labels"`
}

func (u settable) apply(m *meta) {
	if u.Name != nil {
		m.Name = *u.Name
	}
	if u.Labels != nil {
		m.Labels = labelsOf(u.Labels)
	}
}

func labelsOf(given *map[string]string) map[string]string {
	if given == nil || *given == nil {
		return map[string]string{}
	}
	return *given
}

// updateServer works on a locked server, too.
func (s *Simulator) updateServer(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	var body settable
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if body.Name != nil {
		if err := checkHostname(*body.Name); err != nil {
			return reply{}, err
		}
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if body.Name != nil && nameTaken(s.servers, *body.Name, sv.ID) {
		return reply{}, taken("name")
	}
	body.apply(&sv.meta)
	return reply{http.StatusOK, serverAnswer{s.viewServer(sv)}}, nil
}

// nameTaken tells whether another object of the kind has a name.
func nameTaken[T object](all map[int64]T, name string, but int64) bool {
	for id, one := range all {
		if id != but && one.base().Name == name {
			return true
		}
	}
	return false
}

func (s *Simulator) deleteServer(c *call) (reply, error) {
	sv, err := s.server(c)
	if err != nil {
		return reply{}, err
	}
	if err := s.checkUnlocked(sv); err != nil {
		return reply{}, err
	}
	if sv.ProtectDelete {
		return reply{}, protected("server")
	}
	sv.Before, sv.Status = sv.Status, statusDeleting
	if s.settings.AutoDelete == AutoDeleteBefore {
		for _, ip := range s.ipsOf(sv.ID) {
			if ip.AutoDelete {
				s.removePrimaryIP(ip)
			}
		}
	}
	return s.accepted(http.StatusOK, s.begin(commandDeleteServer, sv, nil))
}

func (s *Simulator) checkUnlocked(sv *server) error {
	if s.locked(sv) {
		return fail(http.StatusLocked, codeLocked, "server is locked")
	}
	return nil
}
