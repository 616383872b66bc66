package api

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
)

// errNumber is all that is told of a value of the wrong type: the value itself may be a secret.
var errNumber = errors.New("a value that must be a number is something else")

// Duration is a time span; milliseconds on the wire. Fractions are accepted and cut to the
// nanosecond (section 5).
type Duration struct{ time.Duration }

// Span returns d as a value that can be sent, zero included.
func Span(d time.Duration) *Duration { return &Duration{d} }

// MarshalJSON writes whole milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, d.Milliseconds(), 10), nil
}

// UnmarshalJSON reads a number of milliseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	number, ok, err := number(data, float64(math.MaxInt64/time.Millisecond))
	if ok {
		d.Duration = time.Duration(number * float64(time.Millisecond))
	}
	return err
}

// Time is a point in time; milliseconds since the epoch on the wire.
type Time struct{ time.Time }

// UnmarshalJSON reads a number of milliseconds since the epoch; text dates are refused.
func (t *Time) UnmarshalJSON(data []byte) error {
	number, ok, err := number(data, 1<<53)
	if ok {
		t.Time = time.UnixMilli(int64(number)).UTC()
	}
	return err
}

// Int is a whole number. A fraction on the wire is cut off.
type Int int64

// UnmarshalJSON reads a number.
func (i *Int) UnmarshalJSON(data []byte) error {
	number, ok, err := number(data, 1<<53)
	if ok {
		*i = Int(number)
	}
	return err
}

// number reads a JSON number between -most and most. ok is false for null, which changes nothing.
func number(data []byte, most float64) (value float64, ok bool, err error) {
	if string(data) == "null" {
		return 0, false, nil
	}
	if err := json.Unmarshal(data, &value); err != nil || math.Abs(value) > most {
		return 0, false, errNumber
	}
	return value, true, nil
}
