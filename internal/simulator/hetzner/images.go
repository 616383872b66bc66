package hetzner

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

type imageAnswer struct {
	Image imageView `json:"image"`
}

func (s *Simulator) image(c *call) (*image, error) {
	if found := s.images[c.id(0)]; found != nil {
		return found, nil
	}
	return nil, notFound("image", c.path[0])
}

// findImage finds one by id, or the first system image of a name: which architecture that has, nobody
// promises. nil when there is none.
func (s *Simulator) findImage(given string) *image {
	if id, err := strconv.ParseInt(given, 10, 64); err == nil {
		return s.images[id]
	}
	var first *image
	for _, one := range s.images {
		if one.Type == "system" && one.Name == given && (first == nil || one.ID < first.ID) {
			first = one
		}
	}
	return first
}

// ownImages are those of the project. The mutex is held.
func (s *Simulator) ownImages() []*image {
	var own []*image
	for _, one := range s.images {
		if one.Type != "system" {
			own = append(own, one)
		}
	}
	slices.SortFunc(own, func(a, b *image) int { return cmp.Compare(a.ID, b.ID) })
	return own
}

func (s *Simulator) getImage(c *call) (reply, error) {
	found, err := s.image(c)
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, imageAnswer{viewImage(found)}}, nil
}

func (s *Simulator) listImages(c *call) (reply, error) {
	query := c.request.URL.Query()
	all, err := labeled(c, values(c, s.images))
	if err != nil {
		return reply{}, err
	}
	deprecated := query.Get("include_deprecated") == "true"
	all = slices.DeleteFunc(all, func(i *image) bool {
		return !deprecated && !i.Announced.IsZero() || !among(query, "type", i.Type) || !among(query, "status", i.Status) ||
			!among(query, "architecture", i.Architecture) || len(query["bound_to"]) > 0
	})
	return list(c, "images", all, orders[*image]("id", "name", "created"), viewImage)
}

func (s *Simulator) updateImage(c *call) (reply, error) {
	found, err := s.image(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Description *string            `json:"description"`
		Type        *string            `json:"type"`
		Labels      *map[string]string `json:"labels"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if found.Type == "system" {
		return reply{}, unprocessable(codeUnsupported, "system images cannot be changed")
	}
	if body.Type != nil && *body.Type != "snapshot" {
		return reply{}, invalid("type", "Must be one of: snapshot.")
	}
	if err := checkLabels(labelsOf(body.Labels)); err != nil {
		return reply{}, err
	}
	if body.Description != nil {
		found.Description = *body.Description
	}
	settable{Labels: body.Labels}.apply(&found.meta)
	return reply{http.StatusOK, imageAnswer{viewImage(found)}}, nil
}

func (s *Simulator) deleteImage(c *call) (reply, error) {
	found, err := s.image(c)
	if err != nil {
		return reply{}, err
	}
	if found.Type == "system" {
		return reply{}, unprocessable(codeUnsupported, "system images cannot be deleted")
	}
	if found.ProtectDelete {
		return reply{}, protected("image")
	}
	delete(s.images, found.ID)
	return reply{status: http.StatusNoContent}, nil
}

func (s *Simulator) changeImageProtection(c *call) (reply, error) {
	found, err := s.image(c)
	if err != nil {
		return reply{}, err
	}
	var body struct {
		Delete *bool `json:"delete"`
	}
	if err := c.decodeBody(&body); err != nil {
		return reply{}, err
	}
	if found.Type == "system" {
		return reply{}, unprocessable(codeUnsupported, "system images cannot be changed")
	}
	if body.Delete != nil {
		found.ProtectDelete = *body.Delete
	}
	return s.accepted(http.StatusCreated, s.done(commandChangeProtection, resource{found.ID, typeImage}))
}
