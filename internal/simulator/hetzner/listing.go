package hetzner

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pagination is what a listing says of its pages.
type pagination struct {
	Page         int  `json:"page"`
	PerPage      int  `json:"per_page"`
	PreviousPage *int `json:"previous_page"`
	NextPage     *int `json:"next_page"`
	LastPage     *int `json:"last_page"`
	TotalEntries *int `json:"total_entries"`
}

type listMeta struct {
	Pagination pagination `json:"pagination"`
}

// order compares two objects by one field.
type order[T any] map[string]func(a, b T) int

// object is what listings need of all objects.
type object interface{ base() *meta }

// orders are the fields that nearly everything can be sorted by.
func orders[T object](fields ...string) order[T] {
	all := order[T]{
		"id":      func(a, b T) int { return cmp.Compare(a.base().ID, b.base().ID) },
		"name":    func(a, b T) int { return strings.Compare(a.base().Name, b.base().Name) },
		"created": func(a, b T) int { return a.base().Created.Compare(b.base().Created) },
	}
	for field := range all {
		if !slices.Contains(fields, field) {
			delete(all, field)
		}
	}
	return all
}

// values are the objects of a map that listings show already.
func values[T object](c *call, all map[int64]T) []T {
	lag := time.Duration(c.settings.ListLag) * time.Millisecond
	var shown []T
	for _, one := range all {
		if !c.now.Before(one.base().Created.Add(lag)) {
			shown = append(shown, one)
		}
	}
	return shown
}

// labeled keeps the objects with the name and the labels that the query asks for.
func labeled[T object](c *call, all []T) ([]T, error) {
	query := c.request.URL.Query()
	wanted, err := parseSelector(query.Get("label_selector"))
	if err != nil {
		return nil, err
	}
	name := query.Get("name")
	return slices.DeleteFunc(all, func(one T) bool {
		return name != "" && one.base().Name != name || !wanted.met(one.base().Labels)
	}), nil
}

// among tells whether a value is one of those of a query parameter, or whether there is none of it.
func among(query url.Values, parameter, value string) bool {
	return len(query[parameter]) == 0 || slices.Contains(query[parameter], value)
}

// list answers with the page that a query asks for, under the key of the kind.
func list[T, V any](c *call, kind string, all []T, by order[T], view func(T) V) (reply, error) {
	query := c.request.URL.Query()
	if err := sortBy(all, query["sort"], by); err != nil {
		return reply{}, err
	}
	page, perPage, err := pageOf(query, c.settings)
	if err != nil {
		return reply{}, err
	}
	total := len(all)
	last := max(1, (total+perPage-1)/perPage)
	info := pagination{Page: page, PerPage: perPage, LastPage: &last, TotalEntries: &total}
	if page > 1 {
		info.PreviousPage = pointer(page - 1)
	}
	if page < last {
		info.NextPage = pointer(page + 1)
	}
	c.link(info)
	shown := []V{}
	for i := (page - 1) * perPage; i < min(total, page*perPage); i++ {
		shown = append(shown, view(all[i]))
	}
	return reply{http.StatusOK, map[string]any{kind: shown, "meta": listMeta{info}}}, nil
}

// sortBy sorts by all fields that were given, and by id in the end.
func sortBy[T any](all []T, given []string, by order[T]) error {
	var compare []func(a, b T) int
	for _, one := range given {
		field, direction, _ := strings.Cut(one, ":")
		next, known := by[field]
		if !known {
			return invalid("sort", "It is not possible to sort by %q.", field)
		}
		switch direction {
		case "", "asc":
			compare = append(compare, next)
		case "desc":
			compare = append(compare, func(a, b T) int { return next(b, a) })
		default:
			return invalid("sort", "%q is neither asc nor desc.", direction)
		}
	}
	if byID, known := by["id"]; known {
		compare = append(compare, byID)
	}
	slices.SortStableFunc(all, func(a, b T) int {
		for _, one := range compare {
			if result := one(a, b); result != 0 {
				return result
			}
		}
		return 0
	})
	return nil
}

func pageOf(query url.Values, settings Settings) (page, perPage int, err error) {
	number := func(name string, otherwise int) (int, error) {
		given := query.Get(name)
		if given == "" {
			return otherwise, nil
		}
		value, err := strconv.Atoi(given)
		if err != nil || value < 1 {
			return 0, invalid(name, "Must be greater than or equal to 1.")
		}
		return value, nil
	}
	if page, err = number("page", 1); err != nil {
		return 0, 0, err
	}
	if perPage, err = number("per_page", defaultPerPage); err != nil {
		return 0, 0, err
	}
	return page, min(perPage, settings.maxPage()), nil
}

// link writes the header that names the neighbors.
func (c *call) link(info pagination) {
	var links []string
	add := func(page *int, relation string) {
		if page == nil {
			return
		}
		query := c.request.URL.Query()
		query.Set("page", strconv.Itoa(*page))
		query.Set("per_page", strconv.Itoa(info.PerPage))
		links = append(links, fmt.Sprintf(`<http://%s%s%s?%s>; rel="%s"`, c.request.Host, apiPath, c.request.URL.Path, query.Encode(), relation))
	}
	add(info.PreviousPage, "prev")
	add(info.NextPage, "next")
	add(info.LastPage, "last")
	c.header.Set("Link", strings.Join(links, ", "))
}
