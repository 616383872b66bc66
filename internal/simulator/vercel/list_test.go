package vercel

import (
	"fmt"
	"slices"
	"testing"
)

// names lists all pages and returns the names in order.
func (c client) names(query string) []string {
	c.t.Helper()
	var all []string
	for cursor := ""; ; {
		answer := c.want(200, "GET", "/v2/sandboxes?project="+DefaultProject.ID+query+cursor, nil)
		page, _ := answer["sandboxes"].([]any)
		for _, one := range page {
			all = append(all, text(one, "name"))
		}
		count, _ := at(answer, "pagination", "count").(float64)
		equal(c.t, "count", int(count), len(page))
		next, more := at(answer, "pagination", "next").(string)
		if !more {
			return all
		}
		cursor = "&cursor=" + next
	}
}

func TestListing(t *testing.T) {
	c := newClient(t, Config{})
	var made []string
	for i := range 5 {
		name, session := c.create(object{"name": fmt.Sprintf("box-%d", (i*3)%5), "tags": object{"odd": fmt.Sprint(i % 2)}})
		made = append(made, name)
		if i == 2 {
			c.want(200, "POST", within(session, "/stop"), nil)
		}
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	newest := slices.Clone(made)
	slices.Reverse(newest)
	for _, limit := range []string{"", "&limit=1", "&limit=2", "&limit=5"} {
		same("default"+limit, c.names(limit), newest...)
	}
	same("oldest first", c.names("&limit=2&sortOrder=asc"), made...)
	same("by name", c.names("&limit=2&sortBy=name&sortOrder=asc"), "box-0", "box-1", "box-2", "box-3", "box-4")
	same("prefix", c.names("&sortBy=name&namePrefix=box-3"), "box-3")
	same("tag", c.names("&tags=odd:1&sortOrder=asc"), made[1], made[3])
	same("tag value", c.names("&tags=odd:2"))
	same("status", c.names("&status=stopped"), made[2])
	equal(t, "last changed", c.names("&sortBy=statusUpdatedAt")[0] != "", true)

	for _, query := range []string{
		"&namePrefix=b", "&status=stopped&sortBy=name", "&status=dead", "&sortBy=size", "&sortOrder=up", "&limit=0", "&limit=101", "&limit=x",
		"&tags=a:1&tags=b:2", "&tags=a", "&cursor=x",
	} {
		c.refused(400, codeBadRequest, "GET", "/v2/sandboxes?project="+DefaultProject.ID+query, nil)
	}
	first := c.want(200, "GET", "/v2/sandboxes?project="+DefaultProject.ID+"&limit=1", nil)
	c.refused(400, codeBadRequest, "GET", "/v2/sandboxes?project="+DefaultProject.ID+"&limit=1&sortBy=name&cursor="+text(first, "pagination", "next"), nil)
}

// TestListingWhileObjectsGo: a cursor is a place, not a number, so nothing is skipped.
func TestListingWhileObjectsGo(t *testing.T) {
	c := newClient(t, Config{})
	for i := range 4 {
		c.create(object{"name": fmt.Sprint("box-", i)})
	}
	path := "/v2/sandboxes?project=" + DefaultProject.ID + "&limit=2&sortBy=name&sortOrder=asc"
	first := c.want(200, "GET", path, nil)
	c.want(200, "DELETE", named("box-0"), nil)
	c.want(200, "DELETE", named("box-1"), nil)
	rest := c.want(200, "GET", path+"&cursor="+text(first, "pagination", "next"), nil)
	page, _ := rest["sandboxes"].([]any)
	equal(t, "rest", len(page), 2)
}
