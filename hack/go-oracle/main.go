// The reference for both template engines: executes Go templates and Spiff documents with the originals.
// Reads one JSON object per line and writes one line each, {"output": …} or {"error": …}. The field of an object determines
// the operation:
//
//	template  is executed with values (templates.go)
//	document  is evaluated by Spiff (spiff.go)
//	yaml      is parsed, the output is JSON
//	toYaml    is formatted as YAML
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

type request struct {
	templateRequest
	spiffRequest
	YAML   *string         `json:"yaml"`
	ToYAML json.RawMessage `json:"toYaml"`
}

type answer struct {
	Output *string `json:"output,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func run(r request) (string, error) {
	switch {
	case r.Template != nil:
		return render(r.templateRequest)
	case r.Document != nil:
		return inTime(func() (string, error) { return evaluate(r.spiffRequest) })
	case r.YAML != nil:
		out, err := yaml.YAMLToJSON([]byte(*r.YAML))
		return string(out), err
	default:
		out, err := yaml.JSONToYAML(r.ToYAML)
		return string(out), err
	}
}

// Some documents never end in the original; their evaluation continues in the background.
func inTime(work func() (string, error)) (string, error) {
	done := make(chan answer, 1)
	go func() {
		done <- answered(work())
	}()
	select {
	case it := <-done:
		if it.Output == nil {
			return "", fmt.Errorf("%s", it.Error)
		}
		return *it.Output, nil
	case <-time.After(2 * time.Second):
		return "", fmt.Errorf("panic: no answer after two seconds")
	}
}

func answered(text string, err error) answer {
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Output: &text}
}

func reply(line []byte) answer {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{Error: "request: " + err.Error()}
	}
	return answered(run(r))
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if e := out.Encode(reply(line)); e != nil {
				panic(e)
			}
		}
		if err != nil {
			return
		}
	}
}
