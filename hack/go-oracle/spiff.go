// The judge of the Spiff engine: evaluates documents with the original.
// Reads one JSON object per line, {"document": …, "bindings": …, "stubs": […]};
// writes one line each, {"output": …} with the result as JSON, or {"error": …}.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/mandelsoft/spiff/spiffing"
	spiffyaml "github.com/mandelsoft/spiff/yaml"
	"github.com/mandelsoft/vfs/pkg/memoryfs"
)

type spiffRequest struct {
	Document string                 `json:"document"`
	Bindings map[string]interface{} `json:"bindings"`
	Stubs    []string               `json:"stubs"`
	Files    map[string]string      `json:"files"`
}

func evaluate(r spiffRequest) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	files := memoryfs.New()
	for name, content := range r.Files {
		file, err := files.Create(name)
		if err != nil {
			return "", err
		}
		if _, err := file.Write([]byte(content)); err != nil {
			return "", err
		}
		file.Close()
	}
	engine, err := spiffing.Plain().WithFileSystem(files).WithValues(r.Bindings)
	if err != nil {
		return "", err
	}
	template, err := engine.Unmarshal("template", []byte(r.Document))
	if err != nil {
		return "", err
	}
	stubs := []spiffing.Node{}
	for _, text := range r.Stubs {
		stub, err := engine.Unmarshal("stub", []byte(text))
		if err != nil {
			return "", err
		}
		stubs = append(stubs, stub)
	}
	result, err := engine.Cascade(template, stubs)
	if err != nil {
		return "", err
	}
	bytes, err := spiffyaml.ToJSON(result)
	return string(bytes), err
}

// Some documents never end in the original; the evaluation goes on beside the next ones.
func evaluateInTime(r spiffRequest) (string, error) {
	type result struct {
		out string
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := evaluate(r)
		done <- result{out, err}
	}()
	select {
	case it := <-done:
		return it.out, it.err
	case <-time.After(2 * time.Second):
		return "", fmt.Errorf("panic: no answer after two seconds")
	}
}

func serveSpiff() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var r spiffRequest
			var a answer
			if e := json.Unmarshal(line, &r); e != nil {
				a.Error = "request: " + e.Error()
			} else if text, e := evaluateInTime(r); e != nil {
				a.Error = e.Error()
			} else {
				a.Output = &text
			}
			if e := out.Encode(a); e != nil {
				panic(e)
			}
		}
		if err != nil {
			return
		}
	}
}
