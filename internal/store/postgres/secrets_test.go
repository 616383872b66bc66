package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// chain is everything that an error and what it wraps can say.
func chain(err error) string {
	var b strings.Builder
	var add func(error)
	add = func(err error) {
		if err == nil {
			return
		}
		fmt.Fprintf(&b, "%v %+v %#v\n", err, err, err)
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range many.Unwrap() {
				add(one)
			}
		}
		add(errors.Unwrap(err))
	}
	add(err)
	return b.String()
}

// The password stands in no error of any failure, nor in what errors wrap, nor in an effect.
func TestPasswordStaysSecret(t *testing.T) {
	server := testkit.NewPostgresServer(t)
	database := server.Database(t)
	secret := database.Password()
	var seen []effects.Effect
	observer := func(_ context.Context, _ effects.Phase, effect effects.Effect) { seen = append(seen, effect) }
	s := New(Config{URL: database.URL(), Observer: observer})
	defer func() { _ = s.Close() }()
	check := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
		}
		if said := chain(err); strings.Contains(said, secret) {
			t.Errorf("%s: %s", what, said)
		}
	}
	if _, err := s.Insert(t.Context(), record("id")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Insert(t.Context(), record("id"))
	check("conflict", err)
	held, err := s.Lock(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = New(Config{URL: database.URL()}).Lock(short, "key")
	check("waiting", err)
	database.Cut(t, "usename = 'sandlot'")
	_, err = s.Insert(held.Context(t.Context()), record("other"))
	check("lost lock", err)
	_ = held.Unlock()
	database.Exec(t, "DROP TABLE sandlot.records CASCADE")
	_, err = s.Find(t.Context(), store.Query{})
	check("damaged", err)

	parsed, err := url.Parse(database.URL())
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string]func(*url.URL){
		"other password": func(u *url.URL) { u.User = url.UserPassword("sandlot", secret+"x") },
		"other user":     func(u *url.URL) { u.User = url.UserPassword("nobody", secret) },
		"other database": func(u *url.URL) { u.Path = "absent" },
		"other port":     func(u *url.URL) { u.Host = "127.0.0.1:1" },
		"encrypted":      func(u *url.URL) { u.RawQuery = "sslmode=verify-full" },
		"bad setting":    func(u *url.URL) { u.RawQuery = "work_mem=nonsense" },
	} {
		changed := *parsed
		edit(&changed)
		_, err := New(Config{URL: changed.String()}).Find(t.Context(), store.Query{})
		check(what, err)
		if !strings.HasSuffix(err.Error(), ".") && what != "bad setting" {
			t.Errorf("%s: %v has no remedy", what, err)
		}
	}
	server.Stop(t)
	_, err = s.Find(t.Context(), store.Query{})
	check("down", err)
	for _, effect := range seen {
		if strings.Contains(fmt.Sprintf("%+v", effect), secret) {
			t.Errorf("effect %+v", effect)
		}
	}
}
