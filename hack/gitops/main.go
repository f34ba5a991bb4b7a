// Evaluates the health expressions of a Flux Kustomization as kustomize-controller does: the fields of an object are
// variables; the first expression that is true, in the order inProgress, failed, current, determines the health.
// Reads {"expressions": {...}, "objects": [...]} from stdin, and prints one line for each object: the name of the
// expression, `none`, or `error: …`.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

type input struct {
	Expressions map[string]string `json:"expressions"`
	Objects     []map[string]any  `json:"objects"`
}

func health(expressions map[string]string, object map[string]any) (string, error) {
	options := []cel.EnvOption{cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), ext.Strings()}
	for name := range object {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"inProgress", "failed", "current"} {
		text, ok := expressions[name]
		if !ok {
			continue
		}
		ast, issues := env.Compile(text)
		if issues.Err() != nil {
			return "", fmt.Errorf("%s: %w", name, issues.Err())
		}
		program, err := env.Program(ast)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		value, _, err := program.Eval(object)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if value.Value() == true {
			return name, nil
		}
	}
	return "none", nil
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, object := range in.Objects {
		name, err := health(in.Expressions, object)
		if err != nil {
			name = fmt.Sprintf("error: %v", err)
		}
		fmt.Printf("%.300q\n", name)
	}
}
