//go:build linux

package local

import "sync"

// boundedBuffer keeps the first bytes of a stream and discards the rest, so that a command that
// prints without end neither blocks nor fills the memory.
type boundedBuffer struct {
	limit int

	mutex   sync.Mutex
	content []byte
	dropped bool
}

// Write implements [io.Writer]. It takes everything.
func (b *boundedBuffer) Write(content []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	keep := min(len(content), b.limit-len(b.content))
	b.content = append(b.content, content[:keep]...)
	if keep < len(content) {
		b.dropped = true
	}
	return len(content), nil
}

func (b *boundedBuffer) bytes() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content
}

func (b *boundedBuffer) truncated() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.dropped
}
