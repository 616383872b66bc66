package api

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestWriteFiles unpacks what was sent and looks at it as section 7.2 says.
func TestWriteFiles(t *testing.T) {
	long := "/vercel/sandbox/" + strings.Repeat("d/", 150) + "f"
	s := serve(t, anyAnswer)
	err := clientOf(t, s).WriteFiles(t.Context(), "sbx_S",
		File{Path: "/vercel/sandbox/a/b.txt", Content: []byte("one")},
		File{Path: "/etc/x", Content: []byte("two"), Mode: 0o755},
		File{Path: "/naïve", Mode: 0o4600},
		File{Path: long, Content: bytes.Repeat([]byte{0, 255}, 1000)},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := s.all()[0]
	if got.method != "POST" || got.path != "/api/v2/sandboxes/sessions/sbx_S/fs/write" || got.query != "teamId="+testTeam {
		t.Errorf("got %s %s?%s", got.method, got.path, got.query)
	}
	if got.header.Get("Content-Type") != "application/gzip" || got.header.Get("X-Cwd") != "/" || got.header.Get("Content-Length") == "" {
		t.Errorf("got the headers %v", got.header)
	}
	unpacked, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	for _, want := range []struct {
		name string
		mode int64
		size int
		pax  bool
	}{
		{"vercel/sandbox/a/b.txt", 0o644, 3, false}, {"etc/x", 0o755, 3, false}, {"naïve", 0o600, 0, true}, {strings.TrimPrefix(long, "/"), 0o644, 2000, true},
	} {
		header, err := archive.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(archive)
		if header.Name != want.name || header.Mode != want.mode || len(content) != want.size || header.Typeflag != tar.TypeReg ||
			header.Uid != 0 || header.Gid != 0 || header.Uname != "" || (header.Format == tar.FormatPAX) != want.pax {
			t.Errorf("got %+v with %d bytes, want %+v", header, len(content), want)
		}
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("there is more: %v", err)
	}
}

func TestReadFile(t *testing.T) {
	content := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte("\x00content"))
		}
	}
	file := func(read, session http.HandlerFunc) (*server, string, error) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				session(w, r)
				return
			}
			read(w, r)
		})
		body, err := clientOf(t, s).ReadFile(t.Context(), "sbx_S", "/f")
		if err != nil {
			return s, "", err
		}
		defer body.Close()
		data, err := io.ReadAll(body)
		return s, string(data), err
	}
	there := always(200, object{"session": sessionObject(), "routes": []any{}})
	if _, got, err := file(content(fileType), nil); err != nil || got != "\x00content" {
		t.Errorf("got %q and %v", got, err)
	}
	if _, got, err := file(content(fileType+"; charset=binary"), nil); err != nil || got != "\x00content" {
		t.Errorf("got %q and %v", got, err)
	}
	_, _, err := file(content("text/plain"), nil)
	wantKind(t, err, backends.Failed)
	_, _, err = file(content("text/html"), nil)
	wantKind(t, err, backends.Failed)
	for _, missing := range []http.HandlerFunc{alwaysError(404, CodeNotFound, "no"), always(404, "anything"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }} {
		s, _, err := file(missing, there)
		wantKind(t, err, backends.FileNotFound)
		wantRequests(t, s, 2)
		_, _, err = file(missing, alwaysError(404, CodeNotFound, "no such session"))
		wantKind(t, err, backends.NotFound)
		_, _, err = file(missing, always(404, "a page of someone else"))
		wantKind(t, err, backends.Failed)
	}
	_, _, err = file(alwaysError(400, "bad_request", "is a directory"), nil)
	wantKind(t, err, backends.Invalid)
	_, _, err = file(alwaysError(410, CodeStopped, "over"), nil)
	wantKind(t, err, backends.NotRunning)
	_, _, err = file(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", fileType)
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	}, nil)
	if err == nil {
		t.Error("half a file must not look whole")
	}
}

// TestReadFileIsBoundedByTheCaller: an endless file ends when the caller closes it.
func TestReadFileIsBoundedByTheCaller(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", fileType)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	body, err := clientOf(t, s).ReadFile(t.Context(), "sbx_S", "/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, body, 1<<20); err != nil {
		t.Error(err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
}
