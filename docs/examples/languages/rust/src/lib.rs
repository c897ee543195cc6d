#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use k8s_openapi::api::apps::v1::Deployment;
    use kube::api::{Api, PostParams};
    use kube::config::{KubeConfigOptions, Kubeconfig};
    use kube::runtime::wait::await_condition;
    use kube::{Client, Config};
    use serde_json::json;
    use tempfile::TempDir;

    /// A Kubernetes API that ends with the test.
    struct ControlPlane {
        process: Child,
        directory: TempDir,
    }

    impl ControlPlane {
        fn start() -> Self {
            let command = std::env::var("CONTROL_PLANE").unwrap_or("npx @tenure/controlplane".into());
            let mut words = command.split_whitespace();
            let directory = TempDir::new().unwrap();
            let mut process = Command::new(words.next().unwrap())
                .args(words)
                .arg("--kubeconfig")
                .arg(directory.path().join("kubeconfig"))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // It prints the path of the kubeconfig once the API serves.
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            lines.next().unwrap().unwrap();
            Self { process, directory }
        }

        async fn client(&self) -> Client {
            let kubeconfig = Kubeconfig::read_from(self.directory.path().join("kubeconfig")).unwrap();
            let options = KubeConfigOptions::default();
            Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap()).unwrap()
        }
    }

    impl Drop for ControlPlane {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    #[tokio::test]
    async fn rollout() {
        let control_plane = ControlPlane::start();
        let deployments: Api<Deployment> = Api::namespaced(control_plane.client().await, "default");
        let web = serde_json::from_value(json!({
            "metadata": { "name": "web" },
            "spec": {
                "replicas": 3,
                "selector": { "matchLabels": { "app": "web" } },
                "template": {
                    "metadata": { "labels": { "app": "web" } },
                    "spec": { "containers": [{ "name": "nginx", "image": "nginx" }] },
                },
            },
        }))
        .unwrap();
        deployments.create(&PostParams::default(), &web).await.unwrap();
        let is_ready = |web: Option<&Deployment>| {
            web.and_then(|web| web.status.as_ref()?.ready_replicas) == Some(3)
        };
        await_condition(deployments, "web", is_ready).await.unwrap();
    }
}
