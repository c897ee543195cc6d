package rollout

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// startControlPlane runs a Kubernetes API for one test and returns a client for it.
func startControlPlane(t *testing.T) kubernetes.Interface {
	command := strings.Fields(os.Getenv("TENURE"))
	if len(command) == 0 {
		command = []string{"npx", "tenure"}
	}
	data := t.TempDir()
	tenure := exec.Command(command[0], append(command[1:], "controlplane", "--port", "0", "--data", data)...)
	output, err := tenure.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	tenure.Stderr = os.Stderr
	if err := tenure.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tenure.Process.Signal(os.Interrupt)
		_ = tenure.Wait()
	})
	// It prints the path of the kubeconfig once it serves.
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "kubeconfig") {
	}
	go func() {
		for lines.Scan() {
		}
	}()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

func TestRollout(t *testing.T) {
	client := startControlPlane(t)
	deployments := client.AppsV1().Deployments("default")
	labels := map[string]string{"app": "web"}
	replicas := int32(3)
	_, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			web, err := deployments.Get(ctx, "web", metav1.GetOptions{})
			return err == nil && web.Status.ReadyReplicas == replicas, err
		})
	if err != nil {
		t.Fatal(err)
	}
}
