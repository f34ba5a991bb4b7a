package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
)

// errWait says that the job is not finished yet; apply is called again.
var errWait = errors.New("the job is not finished yet")

var folder = flag.String("folder", ".", "folder of the files")

// fileConfig is the document in spec.config of a deploy item.
type fileConfig struct{ Name, Content, After string }

func valid(c fileConfig) error {
	if c.Name == "" || filepath.Base(c.Name) != c.Name {
		return errors.New("name must be that of a file")
	}
	return nil
}

// apply writes the file as soon as the file "after" exists. It can be called again at any time.
func apply(c fileConfig) (exports object, err error) {
	if _, err := os.Stat(filepath.Join(*folder, c.After)); c.After != "" && err != nil {
		return nil, errWait
	}
	path := filepath.Join(*folder, c.Name)
	return object{"length": len(c.Content)}, os.WriteFile(path, []byte(c.Content), 0o600)
}

func remove(c fileConfig) error {
	err := os.Remove(filepath.Join(*folder, c.Name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
