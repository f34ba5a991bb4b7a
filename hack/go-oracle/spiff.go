package main

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/mandelsoft/spiff/spiffing"
	spiffyaml "github.com/mandelsoft/spiff/yaml"
	"github.com/mandelsoft/vfs/pkg/memoryfs"
	"github.com/mandelsoft/vfs/pkg/vfs"
	"sigs.k8s.io/yaml"
)

// With a stored state, the document is an execution of a blueprint: the output contains its result and its new state, both
// parsed from YAML as Landscaper does. Otherwise the output is the result.
type spiffRequest struct {
	Document *string                `json:"document"`
	Bindings map[string]interface{} `json:"bindings"`
	Stored   *string                `json:"stored"`
	Files    map[string]string      `json:"files"`
}

func evaluate(r spiffRequest) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	files, err := filesOf(r)
	if err != nil {
		return "", err
	}
	engine, err := spiffing.Plain().WithFileSystem(files).WithValues(r.Bindings)
	if err != nil {
		return "", err
	}
	document, err := engine.Unmarshal("template", []byte(*r.Document))
	if err != nil {
		return "", err
	}
	if r.Stored != nil {
		return execution(engine, document, *r.Stored)
	}
	result, err := engine.Cascade(document, nil)
	if err != nil {
		return "", err
	}
	bytes, err := spiffyaml.ToJSON(result)
	return string(bytes), err
}

func filesOf(r spiffRequest) (vfs.FileSystem, error) {
	files := memoryfs.New()
	for name, content := range r.Files {
		if err := files.MkdirAll(path.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := vfs.WriteFile(files, name, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func execution(engine spiffing.Spiff, document spiffing.Node, stored string) (string, error) {
	state, err := engine.Unmarshal("stateHdl", []byte(stored))
	if err != nil {
		return "", err
	}
	result, err := engine.Cascade(document, nil, state)
	if err != nil {
		return "", err
	}
	both := map[string]json.RawMessage{}
	for name, node := range map[string]spiffing.Node{"result": result, "state": engine.DetermineState(result)} {
		text, err := engine.Marshal(node)
		if err != nil {
			return "", err
		}
		if both[name], err = yaml.YAMLToJSON(text); err != nil {
			return "", err
		}
	}
	out, err := json.Marshal(both)
	return string(out), err
}
