package hetzner

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// catalogOrder sorts what never changes.
func catalogOrder[T any](key func(T) (int64, string)) order[T] {
	return order[T]{
		"id": func(a, b T) int {
			first, _ := key(a)
			second, _ := key(b)
			return cmp.Compare(first, second)
		},
		"name": func(a, b T) int {
			_, first := key(a)
			_, second := key(b)
			return strings.Compare(first, second)
		},
	}
}

// listCatalog lists what has a name.
func listCatalog[T, V any](c *call, kind string, all []T, key func(T) (int64, string), view func(T) V) (reply, error) {
	name := c.request.URL.Query().Get("name")
	all = slices.DeleteFunc(slices.Clone(all), func(one T) bool {
		_, own := key(one)
		return name != "" && own != name
	})
	return list(c, kind, all, catalogOrder(key), view)
}

func (s *Simulator) listServerTypes(c *call) (reply, error) {
	return listCatalog(c, "server_types", serverTypes, func(t serverType) (int64, string) { return t.ID, t.Name },
		func(t serverType) serverTypeView { return s.viewServerType(&t) })
}

func (s *Simulator) getServerType(c *call) (reply, error) {
	found := serverTypeByID(c.id(0))
	if found == nil {
		return reply{}, notFound("server_type", c.path[0])
	}
	return reply{http.StatusOK, map[string]any{"server_type": s.viewServerType(found)}}, nil
}

func (s *Simulator) listLocations(c *call) (reply, error) {
	return listCatalog(c, "locations", locations, func(l location) (int64, string) { return l.ID, l.Name }, func(l location) location { return l })
}

func (s *Simulator) getLocation(c *call) (reply, error) {
	found := locationByID(c.id(0))
	if found == nil {
		return reply{}, notFound("location", c.path[0])
	}
	return reply{http.StatusOK, map[string]any{"location": found}}, nil
}

func (s *Simulator) listISOs(c *call) (reply, error) {
	return listCatalog(c, "isos", isos, func(i iso) (int64, string) { return i.ID, *i.Name }, func(i iso) iso { return i })
}

func (s *Simulator) getISO(c *call) (reply, error) {
	for _, one := range isos {
		if one.ID == c.id(0) {
			return reply{http.StatusOK, map[string]any{"iso": one}}, nil
		}
	}
	return reply{}, notFound("iso", c.path[0])
}
