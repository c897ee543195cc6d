package rollout

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
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
	command := strings.Fields(os.Getenv("CONTROL_PLANE"))
	if len(command) == 0 {
		command = []string{"npx", "@tenure/controlplane"}
	}
	controlPlane := exec.Command(command[0], command[1:]...)
	controlPlane.Stderr = os.Stderr
	output, err := controlPlane.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := controlPlane.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = controlPlane.Process.Signal(syscall.SIGTERM)
		_ = controlPlane.Wait()
	})
	// The first line is the kubeconfig; it comes once the API serves.
	kubeconfig, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
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
