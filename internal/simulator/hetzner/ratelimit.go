package hetzner

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// bucket is the rate limit of the project.
type bucket struct {
	tokens float64
	at     time.Time
}

// take counts a request and writes the headers. It tells whether the request may pass; one that may not
// costs nothing. The mutex is held.
func (s *Simulator) take(header http.Header) bool {
	now, capacity := s.now(), float64(s.settings.rateLimit())
	if s.bucket.at.IsZero() {
		s.bucket.tokens = capacity
	} else {
		s.bucket.tokens += now.Sub(s.bucket.at).Seconds() * s.settings.refill()
	}
	s.bucket.tokens, s.bucket.at = min(s.bucket.tokens, capacity), now
	admitted := s.bucket.tokens >= 1
	if admitted {
		s.bucket.tokens--
	}
	remaining := math.Floor(s.bucket.tokens)
	full := now.Unix() + int64(math.Ceil((capacity-remaining)/s.settings.refill()))
	header.Set("RateLimit-Limit", strconv.FormatFloat(capacity, 'f', 0, 64))
	header.Set("RateLimit-Remaining", strconv.FormatFloat(remaining, 'f', 0, 64))
	header.Set("RateLimit-Reset", strconv.FormatInt(full, 10))
	return admitted
}

// ExhaustRateLimit empties the bucket.
func (s *Simulator) ExhaustRateLimit() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.bucket = bucket{at: s.now()}
}
