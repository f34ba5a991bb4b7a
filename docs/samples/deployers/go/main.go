// A deployer in Go: it writes a file for each deploy item of type example.org/file. This file is the protocol, with client-go
// only; file.go does the work.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	itemType  = "example.org/file"
	group     = "landscaper.gardener.cloud"
	finalizer = "finalizer." + group
)

var (
	items   = schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: "deployitems"}
	targets = schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: "targets"}
	secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

type object = map[string]any

type deployer struct{ client dynamic.Interface }

// reconcile carries out the unfinished job of an item, if it has one.
func (d *deployer) reconcile(ctx context.Context, item *unstructured.Unstructured) error {
	status, _, _ := unstructured.NestedMap(item.Object, "status")
	now := time.Now().UTC().Format(time.RFC3339)
	times, _ := status["transitionTimes"].(object)
	if item.GetAnnotations()[group+"/operation"] == "test-reconcile" { // A job without an execution, for tests.
		note := object{"metadata": object{"annotations": object{group + "/operation": nil}}}
		if err := d.patch(ctx, item, note); err != nil {
			return err
		}
		job := object{"jobID": uuid.NewUUID(), "jobIDGenerationTime": now, "observedGeneration": 0,
			"transitionTimes": object{"triggerTime": now, "initTime": nil, "finishedTime": nil}}
		return d.patch(ctx, item, object{"status": job}, "status")
	}
	jobID, _ := status["jobID"].(string)
	if jobID == "" || jobID == status["jobIDFinished"] {
		return nil
	}
	if times["initTime"] == nil { // The first write of a job: phase, deployer, start of the timeout.
		if item.GetDeletionTimestamp() == nil {
			if err := d.patch(ctx, item, object{"metadata": object{"finalizers": []string{finalizer}}}); err != nil {
				return err
			}
		}
		begin := object{
			"phase": "Progressing", "observedGeneration": item.GetGeneration(), "lastReconcileTime": now, "lastError": nil,
			"deployer":        object{"identity": "file-1", "name": "file.example.org", "version": "1.0.0"},
			"transitionTimes": object{"initTime": now},
		}
		return d.patch(ctx, item, object{"status": begin}, "status")
	}
	end := func(phase string, more object) error {
		more["phase"], more["jobIDFinished"], more["transitionTimes"] = phase, jobID, object{"finishedTime": now}
		return d.patch(ctx, item, object{"status": more}, "status")
	}
	fail := func(code string, cause error) error {
		problem := object{"operation": "Reconcile", "reason": "File", "message": cause.Error(), "codes": []string{code},
			"lastTransitionTime": now, "lastUpdateTime": now}
		return end("Failed", object{"lastError": problem})
	}

	var c fileConfig
	raw, _, _ := unstructured.NestedMap(item.Object, "spec", "config")
	text, _ := json.Marshal(raw)
	err := json.Unmarshal(text, &c)
	if item.GetDeletionTimestamp() != nil {
		if err == nil && item.GetAnnotations()[group+"/delete-without-uninstall"] != "true" {
			if err := remove(c); err != nil {
				return err
			}
		}
		return d.patch(ctx, item, object{"metadata": object{"finalizers": nil}})
	}
	if err := errors.Join(valid(c), err); err != nil {
		return fail("ERR_CONFIGURATION_PROBLEM", err)
	}
	if name, _, _ := unstructured.NestedString(item.Object, "spec", "target", "name"); name != "" {
		if _, err := d.client.Resource(targets).Namespace(item.GetNamespace()).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return fail("ERR_CONFIGURATION_PROBLEM", err)
		}
	}
	exports, err := apply(c)
	if err != nil {
		limit, _, _ := unstructured.NestedString(item.Object, "spec", "timeout")
		timeout, parsed := time.ParseDuration(limit)
		if started, _ := time.Parse(time.RFC3339, times["initTime"].(string)); parsed == nil && time.Since(started) > timeout {
			return fail("ERR_TIMEOUT", err)
		}
		return err
	}
	secret, err := d.export(ctx, item, exports)
	if err != nil {
		return err
	}
	return end("Succeeded", object{"exportRef": object{"name": secret, "namespace": item.GetNamespace()}})
}

// export writes the exports into a secret that is deleted with the item.
func (d *deployer) export(ctx context.Context, item *unstructured.Unstructured, exports object) (string, error) {
	name := item.GetName() + "-export"
	text, _ := json.Marshal(exports)
	owner := object{"apiVersion": item.GetAPIVersion(), "kind": item.GetKind(), "name": item.GetName(), "uid": item.GetUID()}
	secret, _ := json.Marshal(object{
		"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name, "ownerReferences": []object{owner}},
		"stringData": object{"config": string(text)},
	})
	_, err := d.client.Resource(secrets).Namespace(item.GetNamespace()).Patch(
		ctx, name, types.ApplyPatchType, secret, metav1.PatchOptions{FieldManager: "file-deployer"})
	return name, err
}

// patch fails with a conflict if the item is newer than the one that was read.
func (d *deployer) patch(ctx context.Context, item *unstructured.Unstructured, body object, sub ...string) error {
	metadata, _ := body["metadata"].(object)
	if metadata == nil {
		metadata = object{}
	}
	metadata["resourceVersion"], body["metadata"] = item.GetResourceVersion(), metadata
	text, _ := json.Marshal(body)
	next, err := d.client.Resource(items).Namespace(item.GetNamespace()).Patch(
		ctx, item.GetName(), types.MergePatchType, text, metav1.PatchOptions{}, sub...)
	if err == nil {
		item.SetResourceVersion(next.GetResourceVersion())
	}
	return err
}

func main() {
	flag.Parse()
	if flag.Arg(0) == "plan" { // Called by espalier plan.
		if err := plan(os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx := context.Background()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst, config.WarningHandler = 50, 100, rest.NoWarnings{}
	d := &deployer{dynamic.NewForConfigOrDie(config)}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	factory := dynamicinformer.NewDynamicSharedInformerFactory(d.client, 0)
	informer := factory.ForResource(items)
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add})
	if err != nil {
		log.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range 10 {
		go d.work(ctx, queue, informer.Lister())
	}
	select {}
}

func (d *deployer) work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], lister cache.GenericLister) {
	for {
		key, _ := queue.Get()
		if found, err := lister.Get(key); err == nil {
			item := found.(*unstructured.Unstructured).DeepCopy()
			kind, _, _ := unstructured.NestedString(item.Object, "spec", "type")
			if kind == itemType {
				err = d.reconcile(ctx, item)
			}
			if err != nil && !errors.Is(err, errWait) && !apierrors.IsConflict(err) {
				log.Printf("deploy item %s: %v", key, err)
			}
			if err != nil {
				queue.AddAfter(key, time.Second)
			}
		}
		queue.Done(key)
	}
}
