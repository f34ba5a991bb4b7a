package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// planRequest contains the fields of a PlanRequest that this deployer uses.
type planRequest struct {
	Direction  string
	DeployItem struct {
		Spec struct {
			Type   string
			Config fileConfig
		}
	}
}

// plan reads a PlanRequest and writes a PlanResponse; it changes nothing.
func plan(in io.Reader, out io.Writer) error {
	var request planRequest
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return err
	}
	response := object{"apiVersion": "espalier.dev/v1alpha1", "kind": "PlanResponse"}
	if spec := request.DeployItem.Spec; spec.Type != itemType {
		response["unknown"] = "this deployer handles only items of type " + itemType
	} else if err := valid(spec.Config); err != nil {
		response["problem"] = err.Error()
	} else if file, err := plannedFile(spec.Config, request.Direction); err != nil {
		return err
	} else if file != nil {
		response["objects"] = []object{file}
	}
	return json.NewEncoder(out).Encode(response)
}

// plannedFile is the change of the file; nil if there is nothing to delete.
func plannedFile(c fileConfig, direction string) (object, error) {
	file := object{"apiVersion": "file.example.org/v1", "kind": "File", "name": c.Name}
	content, err := os.ReadFile(filepath.Join(*folder, c.Name))
	exists := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if exists {
		file["before"] = object{"content": string(content)}
	}
	if direction == "apply" {
		file["after"] = object{"content": c.Content}
	}
	switch {
	case direction == "remove" && !exists:
		return nil, nil
	case direction == "remove":
		file["change"] = "delete"
	case !exists:
		file["change"] = "create"
	case string(content) != c.Content:
		file["change"] = "change"
	default:
		file["change"] = "unchanged"
	}
	return file, nil
}
