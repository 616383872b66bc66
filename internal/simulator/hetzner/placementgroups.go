package hetzner

import "net/http"

// maxGroup is how many servers a spread group takes.
const maxGroup = 10

type placementGroupAnswer struct {
	PlacementGroup placementGroupView `json:"placement_group"`
}

type createPlacementGroupAnswer struct {
	PlacementGroup placementGroupView `json:"placement_group"`
	Action         *actionView        `json:"action"`
}

func (s *Simulator) placementGroup(c *call) (*placementGroup, error) {
	if found := s.groups[c.id(0)]; found != nil {
		return found, nil
	}
	return nil, notFound("placement_group", c.path[0])
}

func (s *Simulator) getPlacementGroup(c *call) (reply, error) {
	found, err := s.placementGroup(c)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, placementGroupAnswer{s.viewPlacementGroup(found)}}, nil
}

func (s *Simulator) listPlacementGroups(c *call) (reply, error) {
	all, err := labeled(c, values(c, s.groups))
	if err != nil {
		return reply{}, err
	}
	if !among(c.request.URL.Query(), "type", "spread") {
		all = nil
	}
	return list(c, "placement_groups", all, orders[*placementGroup]("id", "name", "created"), s.viewPlacementGroup)
}

func (s *Simulator) createPlacementGroup(c *call) (reply, error) {
	var body struct {
		settable
		Type string `json:"type"`
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
	if body.Type != "spread" {
		return reply{}, invalid("type", "Must be one of: spread.")
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if nameTaken(s.groups, *body.Name, 0) {
		return reply{}, taken("name")
	}
	if s.exceeds(limitPlacementGroups, len(s.groups)+1) {
		return reply{}, limitExceeded(limitPlacementGroups)
	}
	made := &placementGroup{meta{ID: s.nextID(), Name: *body.Name, Labels: labelsOf(body.Labels), Created: s.now()}}
	s.groups[made.ID] = made
	return reply{http.StatusCreated, createPlacementGroupAnswer{PlacementGroup: s.viewPlacementGroup(made)}}, nil
}

func (s *Simulator) updatePlacementGroup(c *call) (reply, error) {
	found, err := s.placementGroup(c)
	if err != nil {
		return reply{}, err
	}
	if err := updateMeta(c, s.groups, &found.meta); err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, placementGroupAnswer{s.viewPlacementGroup(found)}}, nil
}

// deletePlacementGroup takes the servers out of the group.
func (s *Simulator) deletePlacementGroup(c *call) (reply, error) {
	found, err := s.placementGroup(c)
	if err != nil {
		return reply{}, err
	}
	for _, sv := range s.servers {
		if sv.PlacementGroup == found.ID {
			sv.PlacementGroup = 0
		}
	}
	delete(s.groups, found.ID)
	return reply{status: http.StatusNoContent}, nil
}
