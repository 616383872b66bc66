package sqlrows

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// timeLayout is RFC 3339 with all nine digits, so that times sort as texts.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

// now has no monotonic part, so that it equals the time that is read back.
func now() time.Time { return time.Now().UTC().Round(0) }

func timeText(t time.Time) string { return t.UTC().Format(timeLayout) }

// optionalTimeText is "" for the zero time.
func optionalTimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return timeText(t)
}

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %q is not a time", store.ErrCorrupt, text)
	}
	return t.UTC(), nil
}

// parsedTime is a time that is read back; optional when its text may be "".
type parsedTime struct {
	text     string
	into     *time.Time
	optional bool
}

func parseTimes(times ...*parsedTime) error {
	for _, t := range times {
		if t.optional && t.text == "" {
			*t.into = time.Time{}
			continue
		}
		parsed, err := parseTime(t.text)
		if err != nil {
			return err
		}
		*t.into = parsed
	}
	return nil
}

func nullable(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: raw != nil}
}

func document(text sql.NullString) json.RawMessage {
	if !text.Valid {
		return nil
	}
	return json.RawMessage(text.String)
}
