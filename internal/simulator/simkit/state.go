package simkit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ReplaceJSON replaces a file in one step.
func ReplaceJSON(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// LockFolder keeps a second simulator away from a state folder until the lock is closed.
func LockFolder(dir string) (*flock.Flock, error) {
	held := flock.New(filepath.Join(dir, "lock"))
	free, err := held.TryLock()
	if err == nil && !free {
		err = errors.New("another simulator uses it")
	}
	return held, err
}
