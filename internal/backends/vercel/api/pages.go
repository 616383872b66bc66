package api

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// pagination ends a page (section 5.8). Next must be there; null means that this is the last page.
type pagination struct {
	Next *string `json:"next" wire:"nullable"`
}

// pages reads all items of a listing. request makes the call for one page; member is where the
// answer has its items. An error ends the sequence: what came before is not the whole then.
func pages[T any](ctx context.Context, c *Client, request func() (call, error), member string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		seen := map[string]bool{}
		for cursor := ""; ; {
			call, err := request()
			if err != nil {
				yield(none, err)
				return
			}
			items, next, err := readPage[T](ctx, c, call.with("cursor", cursor), member)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			if cursor = *next; cursor == "" || seen[cursor] {
				yield(none, call.failure(backends.Failed, "The pages of the listing do not end.", nil))
				return
			}
			seen[cursor] = true
		}
	}
}

func readPage[T any](ctx context.Context, c *Client, call call, member string) ([]T, *string, error) {
	call.longest = longestPage
	var end struct {
		Pagination pagination `json:"pagination" wire:"required"`
	}
	// The name of the items' member differs, so the page is read in two steps.
	var page map[string]json.RawMessage
	var raw json.RawMessage
	if err := c.do(ctx, call, &raw); err != nil {
		return nil, nil, err
	}
	unusable := func(err error) error {
		return call.failure(backends.Failed, "The answer cannot be used: "+err.Error()+".", nil)
	}
	if err := decode(raw, &end); err != nil {
		return nil, nil, unusable(err)
	}
	if err := decode(raw, &page); err != nil {
		return nil, nil, unusable(err)
	}
	var items []T
	if isNull(page[member]) {
		return nil, nil, call.failure(backends.Failed, "The answer cannot be used: it lacks "+member+".", nil)
	}
	if err := decode(page[member], &items); err != nil {
		return nil, nil, unusable(err)
	}
	return items, end.Pagination.Next, nil
}

// limited page size as a query value; empty leaves it to the API.
func pageSize(size int) string {
	if size <= 0 {
		return ""
	}
	return strconv.Itoa(size)
}
