package hetzner

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

type actionAnswer struct {
	Action actionView `json:"action"`
}

func (s *Simulator) accepted(status int, a *action) (reply, error) {
	return reply{status, actionAnswer{s.viewAction(a)}}, nil
}

// getActionsByID answers for those of the ids that there are, without pages. Without ids the endpoint
// was removed.
func (s *Simulator) getActionsByID(c *call) (reply, error) {
	ids := c.request.URL.Query()["id"]
	if len(ids) == 0 {
		return removedEndpoint(c)
	}
	shown := []actionView{}
	for _, given := range ids {
		id, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return reply{}, invalid("id", "Not a valid integer.")
		}
		if a := s.actions[id]; a != nil {
			shown = append(shown, s.viewAction(a))
		}
	}
	last, total := 1, len(shown)
	info := pagination{Page: 1, PerPage: defaultPerPage, LastPage: &last, TotalEntries: &total}
	return reply{http.StatusOK, map[string]any{"actions": shown, "meta": listMeta{info}}}, nil
}

// getAction finds an action, of one kind of resource unless that is empty.
func (s *Simulator) getAction(resourceType string, wildcard int) handler {
	return func(c *call) (reply, error) {
		a := s.actions[c.id(wildcard)]
		if a == nil || resourceType != "" && !a.concerns(resourceType, 0) || wildcard == 1 && !a.concerns(resourceType, c.id(0)) {
			return reply{}, notFound("action", c.path[wildcard])
		}
		return s.accepted(http.StatusOK, a)
	}
}

// concerns tells whether an action works on a resource; 0 is any of the type.
func (a *action) concerns(resourceType string, id int64) bool {
	return slices.ContainsFunc(a.Resources, func(r resource) bool { return r.Type == resourceType && (id == 0 || r.ID == id) })
}

// listActions lists those of one kind of resource, or of one of them.
func (s *Simulator) listActions(resourceType string, ofOne bool) handler {
	by := order[*action]{
		"id":       func(a, b *action) int { return cmp.Compare(a.ID, b.ID) },
		"command":  func(a, b *action) int { return cmp.Compare(a.Command, b.Command) },
		"status":   func(a, b *action) int { return cmp.Compare(a.Status, b.Status) },
		"started":  func(a, b *action) int { return a.Started.Compare(b.Started) },
		"finished": func(a, b *action) int { return a.Finished.Compare(b.Finished) },
	}
	return func(c *call) (reply, error) {
		query := c.request.URL.Query()
		id := int64(0)
		if ofOne {
			if id = c.id(0); !s.exists(resourceType, id) {
				return reply{}, notFound(resourceType, c.path[0])
			}
		}
		var all []*action
		for _, a := range s.actions {
			if a.concerns(resourceType, id) && among(query, "status", string(a.Status)) && among(query, "id", strconv.FormatInt(a.ID, 10)) {
				all = append(all, a)
			}
		}
		return list(c, "actions", all, by, s.viewAction)
	}
}

func (s *Simulator) exists(resourceType string, id int64) bool {
	if resourceType == typePrimaryIP {
		return s.primaryIPs[id] != nil
	}
	return s.servers[id] != nil && !s.servers[id].Removed
}
