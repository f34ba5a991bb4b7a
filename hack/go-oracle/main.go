// The judge of the template engine: executes Go templates with Go itself.
// Reads one JSON object per line, {"template": …, "values": …}, or {"yaml": …} to read a text as YAML;
// writes one line each, {"output": …} or {"error": …}. With "rounds" the output is the time of one execution of the
// parsed template in nanoseconds, the median over so many.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type request struct {
	Template *string         `json:"template"`
	Values   json.RawMessage `json:"values"`
	Rounds   int             `json:"rounds"`
	YAML     *string         `json:"yaml"`
	ToYAML   json.RawMessage `json:"toYaml"`
}

type answer struct {
	Output *string `json:"output,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	delete(all, "getHostByName")
	all["toYaml"] = func(v interface{}) string {
		out, err := yaml.Marshal(v)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(out), "\n")
	}
	all["fromYaml"] = func(text string) (interface{}, error) {
		var out interface{}
		err := yaml.Unmarshal([]byte(text), &out)
		return out, err
	}
	return all
}

func render(text string, raw json.RawMessage, rounds int) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var values interface{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &values); err != nil {
			return "", err
		}
	}
	parsed, err := template.New("execution").Funcs(functions()).Option("missingkey=zero").Parse(text)
	if err != nil {
		return "", err
	}
	if rounds > 0 {
		return measure(parsed, values, rounds)
	}
	var buffer bytes.Buffer
	err = parsed.Execute(&buffer, values)
	return buffer.String(), err
}

func measure(parsed *template.Template, values interface{}, rounds int) (string, error) {
	took := make([]int64, rounds)
	for i := range took {
		var buffer bytes.Buffer
		began := time.Now()
		if err := parsed.Execute(&buffer, values); err != nil {
			return "", err
		}
		took[i] = time.Since(began).Nanoseconds()
	}
	slices.Sort(took)
	return strconv.FormatInt(took[rounds/2], 10), nil
}

func run(r request) (string, error) {
	switch {
	case r.Template != nil:
		return render(*r.Template, r.Values, r.Rounds)
	case r.YAML != nil:
		out, err := yaml.YAMLToJSON([]byte(*r.YAML))
		return string(out), err
	default:
		out, err := yaml.JSONToYAML(r.ToYAML)
		return string(out), err
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "spiff" {
		serveSpiff()
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var r request
			var a answer
			if e := json.Unmarshal(line, &r); e != nil {
				a.Error = "request: " + e.Error()
			} else if text, e := run(r); e != nil {
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
