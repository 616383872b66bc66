package vercel

import (
	"encoding/json"
	"net/http"
)

// lineWriter writes JSON values, one a line, and sends each at once.
type lineWriter struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
	begun   bool
}

func newLineWriter(w http.ResponseWriter) *lineWriter {
	return &lineWriter{w: w, flusher: http.NewResponseController(w)}
}

// begin sends the head. Clients take the content type to the letter.
func (l *lineWriter) begin() error {
	if l.begun {
		return nil
	}
	l.begun = true
	l.w.Header().Set("Content-Type", "application/x-ndjson")
	l.w.WriteHeader(http.StatusOK)
	return l.flusher.Flush()
}

func (l *lineWriter) write(value any) error {
	if err := l.begin(); err != nil {
		return err
	}
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, err := l.w.Write(append(content, '\n')); err != nil {
		return err
	}
	return l.flusher.Flush()
}
