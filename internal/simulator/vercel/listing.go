package vercel

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pagination ends a listing. Next is null on the last page.
type pagination struct {
	Count int     `json:"count"`
	Next  *string `json:"next"`
}

// position is where a page begins: behind the object with this key.
type position struct {
	By     string `json:"b"`
	Order  string `json:"o"`
	Key    string `json:"k"`
	Serial int64  `json:"s"`
}

func (p position) String() string {
	content, _ := json.Marshal(p) // strings and a number
	return base64.RawURLEncoding.EncodeToString(content)
}

// entry is an object in a listing.
type entry[T any] struct {
	key    string
	serial int64
	object T
}

func pageLimit(query url.Values, settings Settings) (int, error) {
	given := query.Get("limit")
	if given == "" {
		return min(defaultPage, settings.maxPage()), nil
	}
	limit, err := strconv.Atoi(given)
	if err != nil || limit < 1 || limit > settings.maxPage() {
		return 0, badRequest("`limit` should be between 1 and %d", settings.maxPage())
	}
	return limit, nil
}

// timeKey makes a time comparable as text.
func timeKey(at ms) string { return fmt.Sprintf("%020d", at) }

// page sorts entries and cuts out what the query asks for.
func page[T any](entries []entry[T], query url.Values, by string, settings Settings) ([]T, pagination, error) {
	limit, err := pageLimit(query, settings)
	if err != nil {
		return nil, pagination{}, err
	}
	order := cmp.Or(query.Get("sortOrder"), "desc")
	if order != "desc" && order != "asc" {
		return nil, pagination{}, badRequest("`sortOrder` should be asc or desc")
	}
	compare := func(a, b entry[T]) int {
		result := cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.serial, b.serial))
		if order == "desc" {
			return -result
		}
		return result
	}
	slices.SortFunc(entries, compare)
	if cursor := query.Get("cursor"); cursor != "" {
		from, err := parsePosition(cursor, by, order)
		if err != nil {
			return nil, pagination{}, err
		}
		mark := entry[T]{key: from.Key, serial: from.Serial}
		entries = slices.DeleteFunc(entries, func(e entry[T]) bool { return compare(e, mark) <= 0 })
	}
	objects, result := []T{}, pagination{}
	for i, one := range entries {
		if i == limit {
			last := entries[i-1]
			next := position{By: by, Order: order, Key: last.key, Serial: last.serial}.String()
			result.Next = &next
			break
		}
		objects = append(objects, one.object)
	}
	result.Count = len(objects)
	return objects, result, nil
}

// answerPage answers with the page that the query asks for. member is what its objects are called.
func answerPage[T any](w http.ResponseWriter, member string, entries []entry[T], query url.Values, by string, settings Settings) error {
	objects, paging, err := page(entries, query, by, settings)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{member: objects, "pagination": paging})
	return nil
}

func parsePosition(cursor, by, order string) (position, error) {
	var from position
	content, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(content, &from)
	}
	if err != nil || from.By != by || from.Order != order {
		return from, badRequest("`cursor` is not one of this listing")
	}
	return from, nil
}

func (s *Simulator) listSandboxes(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	project, err := s.project(query.Get("project"), "project")
	if err != nil {
		return err
	}
	by := cmp.Or(query.Get("sortBy"), "createdAt")
	wanted, err := sandboxFilter(query, by)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var entries []entry[sandboxView]
	for _, sb := range s.sandboxes {
		view := s.viewSandbox(sb)
		if sb.Project != project || !wanted(view) {
			continue
		}
		key := map[string]string{
			"createdAt": timeKey(sb.CreatedAt), "name": sb.Name, "statusUpdatedAt": timeKey(sb.StatusUpdatedAt), "currentSnapshotId": sb.CurrentSnapshot,
		}[by]
		entries = append(entries, entry[sandboxView]{key: key, serial: sb.Serial, object: view})
	}
	return answerPage(w, "sandboxes", entries, query, by, s.settings)
}

// sandboxFilter reads the filters of a listing of sandboxes.
func sandboxFilter(query url.Values, by string) (func(sandboxView) bool, error) {
	if !slices.Contains([]string{"createdAt", "name", "statusUpdatedAt", "currentSnapshotId"}, by) {
		return nil, badRequest("`sortBy` should be equal to one of the allowed values")
	}
	prefix, state := query.Get("namePrefix"), status(query.Get("status"))
	if prefix != "" && by != "name" {
		return nil, badRequest("`namePrefix` needs `sortBy` name")
	}
	if state != "" && by != "createdAt" {
		return nil, badRequest("`status` needs `sortBy` createdAt")
	}
	if state != "" && !slices.Contains([]status{statusRunning, statusStopping, statusStopped}, state) {
		return nil, badRequest("`status` should be running, stopping or stopped")
	}
	tags := query["tags"]
	if len(tags) > 1 {
		return nil, badRequest("`tags` takes one filter only")
	}
	tag, value, tagged := "", "", false
	if len(tags) == 1 {
		if tag, value, tagged = strings.Cut(tags[0], ":"); !tagged {
			return nil, badRequest("`tags` should be key:value")
		}
	}
	return func(view sandboxView) bool {
		actual, present := view.Tags[tag]
		return strings.HasPrefix(view.Name, prefix) && (state == "" || view.Status == state) && (!tagged || present && actual == value)
	}, nil
}

// listed reads what the listings of sessions and snapshots have in common: the project, and the name
// of a sandbox, which may be left out. It returns whether an object belongs to the listing.
func (s *Simulator) listed(query url.Values) (func(project, name string) bool, error) {
	project, err := s.project(query.Get("project"), "project")
	name := query.Get("name")
	return func(itsProject, itsName string) bool {
		return itsProject == project && (name == "" || itsName == name)
	}, err
}

func (s *Simulator) listSessions(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	wanted, err := s.listed(query)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var entries []entry[sessionView]
	for _, sn := range s.sessions {
		if wanted(sn.Project, sn.SandboxName) {
			entries = append(entries, entry[sessionView]{key: timeKey(sn.CreatedAt), serial: sn.Serial, object: s.viewSession(sn)})
		}
	}
	return answerPage(w, "sessions", entries, query, "createdAt", s.settings)
}

func (s *Simulator) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	wanted, err := s.listed(query)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var entries []entry[snapshotView]
	for _, sp := range s.snapshots {
		if wanted(sp.Project, sp.SandboxName) {
			entries = append(entries, entry[snapshotView]{key: timeKey(sp.CreatedAt), serial: sp.Serial, object: s.viewSnapshot(sp)})
		}
	}
	return answerPage(w, "snapshots", entries, query, "createdAt", s.settings)
}
