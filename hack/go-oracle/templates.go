package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// With rounds, the output is the time of one execution of the parsed template in nanoseconds, the median of that many.
type templateRequest struct {
	Template *string         `json:"template"`
	Values   json.RawMessage `json:"values"`
	Rounds   int             `json:"rounds"`
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

func render(r templateRequest) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	var values interface{}
	if len(r.Values) > 0 {
		if err := json.Unmarshal(r.Values, &values); err != nil {
			return "", err
		}
	}
	parsed, err := template.New("execution").Funcs(functions()).Option("missingkey=zero").Parse(*r.Template)
	if err != nil {
		return "", err
	}
	if r.Rounds > 0 {
		return measure(r.Rounds, func() error { return parsed.Execute(&bytes.Buffer{}, values) })
	}
	var buffer bytes.Buffer
	err = parsed.Execute(&buffer, values)
	return buffer.String(), err
}

func measure(rounds int, work func() error) (string, error) {
	took := make([]int64, rounds)
	for i := range took {
		began := time.Now()
		if err := work(); err != nil {
			return "", err
		}
		took[i] = time.Since(began).Nanoseconds()
	}
	slices.Sort(took)
	return strconv.FormatInt(took[rounds/2], 10), nil
}
