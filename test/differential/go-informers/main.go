// Watches the ConfigMaps of a cluster with client-go's informers and prints one JSON object per line: first "synced" with
// the content of the cache, then every change, until standard input ends.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// A line of the output. Only the typed informer has Data.
type line struct {
	Informer string            `json:"informer"`
	Event    string            `json:"event"`
	Name     string            `json:"name,omitempty"`
	Version  string            `json:"version,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Data     map[string]string `json:"data,omitempty"`
	Names    []string          `json:"names,omitempty"`
}

// Informers call their handlers from their own goroutines.
var output struct {
	sync.Mutex
	*json.Encoder
}

func say(l line) {
	output.Lock()
	defer output.Unlock()
	if err := output.Encode(l); err != nil {
		os.Exit(1)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster to follow")
	namespace := flag.String("namespace", "", "whose ConfigMaps to follow; all by default")
	selector := flag.String("selector", "", "of labels; everything by default")
	protobuf := flag.Bool("protobuf", false, "ask for protobuf first, as Kubernetes' own components do")
	flag.Parse()
	output.Encoder = json.NewEncoder(os.Stdout)
	if err := follow(*kubeconfig, *namespace, *selector, *protobuf); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func follow(kubeconfig, namespace, selector string, protobuf bool) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	// Exits when its parent exits.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()

	tweak := func(options *metav1.ListOptions) { options.LabelSelector = selector }
	typed := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(tweak))
	partial := metadatainformer.NewFilteredSharedInformerFactory(metadataClient, 0, namespace, tweak)
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")

	var group sync.WaitGroup
	for name, informer := range map[string]cache.SharedIndexInformer{
		"typed":    typed.Core().V1().ConfigMaps().Informer(),
		"metadata": partial.ForResource(resource).Informer(),
	} {
		group.Go(func() { run(ctx, name, informer) })
	}
	group.Wait()
	return nil
}

func run(ctx context.Context, name string, informer cache.SharedIndexInformer) {
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	wait, giveUp := context.WithTimeout(ctx, 30*time.Second)
	defer giveUp()
	if !cache.WaitForCacheSync(wait.Done(), informer.HasSynced) {
		say(line{Informer: name, Event: "failed"})
		return
	}
	names := []string{}
	for _, object := range informer.GetStore().List() {
		if accessor, err := meta.Accessor(object); err == nil {
			names = append(names, accessor.GetName())
		}
	}
	sort.Strings(names)
	say(line{Informer: name, Event: "synced", Names: names})
	report := func(event string) func(object any) {
		return func(object any) { say(describe(name, event, object)) }
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    report("added"),
		UpdateFunc: func(_, object any) { say(describe(name, "updated", object)) },
		DeleteFunc: report("deleted"),
	})
	if err != nil {
		say(line{Informer: name, Event: "failed"})
	}
	running.Wait()
}

func describe(informer, event string, object any) line {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		event, object = "missed "+event, unknown.Obj
	}
	l := line{Informer: informer, Event: event}
	if accessor, err := meta.Accessor(object); err == nil {
		l.Name, l.Version, l.Labels = accessor.GetName(), accessor.GetResourceVersion(), accessor.GetLabels()
	}
	if configMap, ok := object.(*corev1.ConfigMap); ok {
		l.Data = configMap.Data
	}
	return l
}
