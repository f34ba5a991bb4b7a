// Clients of a Kubernetes API written in Go, as most are: an informer of client-go and a manager of controller-runtime.
//
//	go-clients informer NAMESPACE        prints the names and versions of its cache, a line for each change
//	go-clients manager NAMESPACE NAME    takes part in a leader election, and prints the objects that it reconciles
//
// Uses the kubeconfig in KUBECONFIG. KUBE_FEATURE_WatchListClient determines whether lists are streamed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "informer":
		return runInformer(ctx, config, args[1])
	case len(args) == 3 && args[0] == "manager":
		return runManager(ctx, config, args[1], args[2])
	}
	return fmt.Errorf("usage: go-clients informer NAMESPACE | manager NAMESPACE NAME")
}

func runInformer(ctx context.Context, config *rest.Config, namespace string) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var printing sync.Mutex
	show := func() {
		printing.Lock()
		defer printing.Unlock()
		fmt.Println(contents(informer.GetStore()))
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { show() },
		UpdateFunc: func(any, any) { show() },
		DeleteFunc: func(any) { show() },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the cache did not sync")
	}
	fmt.Println("synced")
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// contents is a line such as "a@12 b@15".
func contents(store cache.Store) string {
	var lines []string
	for _, each := range store.List() {
		object := each.(*corev1.ConfigMap)
		lines = append(lines, object.Name+"@"+object.ResourceVersion)
	}
	sort.Strings(lines)
	return "cache " + strings.Join(lines, " ")
}

func runManager(ctx context.Context, config *rest.Config, namespace, name string) error {
	log.SetLogger(logr.Discard())
	lease, renew, retry := 3*time.Second, 2*time.Second, 500*time.Millisecond
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:          true,
		LeaderElectionID:        "go-clients",
		LeaderElectionNamespace: namespace,
		LeaseDuration:           &lease,
		RenewDeadline:           &renew,
		RetryPeriod:             &retry,
		Metrics:                 server.Options{BindAddress: "0"},
		Cache: ctrlcache.Options{
			DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}},
		},
	})
	if err != nil {
		return err
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var object corev1.ConfigMap
		if err := manager.GetClient().Get(ctx, request.NamespacedName, &object); err != nil {
			return reconcile.Result{}, err
		}
		fmt.Println("reconciled", object.Name)
		return reconcile.Result{}, nil
	})
	if err := ctrl.NewControllerManagedBy(manager).Named(name).For(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	go func() {
		<-manager.Elected()
		if ctx.Err() == nil {
			fmt.Println("leads")
		}
	}()
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			fmt.Println("synced")
		}
	}()
	return manager.Start(ctx)
}
