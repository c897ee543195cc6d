import json
import os
import subprocess
import time
import unittest

from kubernetes import client, config


class RolloutTest(unittest.TestCase):
    def setUp(self):
        """Runs a Kubernetes API for one test."""
        command = os.environ.get("CONTROL_PLANE", "npx @tenure/controlplane").split()
        control_plane = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(control_plane.stdout.close)
        self.addCleanup(control_plane.wait)
        self.addCleanup(control_plane.terminate)
        # The first line is the kubeconfig; it comes once the API serves.
        kubeconfig = control_plane.stdout.readline()
        config.load_kube_config_from_dict(json.loads(kubeconfig))

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
