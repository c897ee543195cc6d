import os
import signal
import subprocess
import tempfile
import time
import unittest

from kubernetes import client, config


class RolloutTest(unittest.TestCase):
    def setUp(self):
        """Runs a Kubernetes API for one test."""
        command = os.environ.get("TENURE", "npx tenure").split()
        data = tempfile.TemporaryDirectory()
        self.addCleanup(data.cleanup)
        arguments = ["controlplane", "--port", "0", "--data", data.name]
        tenure = subprocess.Popen(command + arguments, stdout=subprocess.PIPE, text=True)
        self.addCleanup(tenure.stdout.close)
        self.addCleanup(tenure.wait)
        self.addCleanup(tenure.send_signal, signal.SIGINT)
        # It prints the path of the kubeconfig once it serves.
        while not tenure.stdout.readline().startswith("kubeconfig"):
            self.assertIsNone(tenure.poll(), "tenure has ended")
        config.load_kube_config(os.path.join(data.name, "kubeconfig"))

    def test_rollout(self):
        deployments = client.AppsV1Api()
        labels = {"app": "web"}
        pod = {"containers": [{"name": "nginx", "image": "nginx"}]}
        deployments.create_namespaced_deployment(
            "default",
            {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 3,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": pod},
                },
            },
        )
        end = time.monotonic() + 60
        ready = 0
        while ready != 3 and time.monotonic() < end:
            ready = deployments.read_namespaced_deployment("web", "default").status.ready_replicas
            time.sleep(0.05)
        self.assertEqual(ready, 3)


if __name__ == "__main__":
    unittest.main()
