// An operator on controller-runtime, for comparison with the same operator on our runtime: it copies the data of each
// ConfigMap with the label "bench" to a ConfigMap that the first one owns, and corrects the copy if it differs.
//
//	go-operator NAMESPACE        prints "synced" when its caches are filled
//
// Uses the kubeconfig in KUBECONFIG.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const (
	label   = "bench"
	workers = 10
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go-operator NAMESPACE")
		os.Exit(1)
	}
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, namespace string) error {
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1 // No limit, as in our runtime.
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		Cache:   ctrlcache.Options{DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}}},
	})
	if err != nil {
		return err
	}
	isPrimary := predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetLabels()[label] != ""
	})
	err = ctrl.NewControllerManagedBy(mgr).
		Named("copies").
		For(&corev1.ConfigMap{}, builder.WithPredicates(isPrimary)).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&copier{mgr.GetClient()})
	if err != nil {
		return err
	}
	// Runnables start when the caches are filled.
	if err := mgr.Add(manager.RunnableFunc(func(context.Context) error {
		fmt.Println("synced")
		return nil
	})); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

type copier struct{ client.Client }

func (c *copier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var primary corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &primary); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var present corev1.ConfigMap
	key := client.ObjectKey{Namespace: primary.Namespace, Name: primary.Name + "-copy"}
	err := c.Get(ctx, key, &present)
	if apierrors.IsNotFound(err) {
		wanted := corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Data:       primary.Data,
		}
		if err := ctrl.SetControllerReference(&primary, &wanted, c.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, c.Create(ctx, &wanted)
	}
	if err != nil || maps.Equal(present.Data, primary.Data) {
		return ctrl.Result{}, err
	}
	present.Data = primary.Data
	return ctrl.Result{}, c.Update(ctx, &present)
}
