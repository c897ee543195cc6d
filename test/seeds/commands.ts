/**
 * The commands of the seed documents, in their order and exactly as written there. Users of those
 * systems type these commands, so all of them must keep working.
 */
const APPLICATIONS = 'http://localhost:3000/apis/cloudnative.elide.dev/v1/namespaces'

/** From the document "Kubernetes Controller". */
export const controller = {
  start: 'npm start',
  startElsewhere: 'PORT=8080 npm start',
  create: `curl -X POST ${APPLICATIONS}/default/applications \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {
      "name": "my-app"
    },
    "spec": {
      "replicas": 3,
      "image": "nginx:latest",
      "strategy": "RollingUpdate"
    }
  }'`,
  get: `curl ${APPLICATIONS}/default/applications/my-app`,
  update: `curl -X PUT ${APPLICATIONS}/default/applications/my-app \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {
      "name": "my-app",
      "namespace": "default"
    },
    "spec": {
      "replicas": 5,
      "image": "nginx:latest",
      "strategy": "RollingUpdate"
    }
  }'`,
  watch: 'curl -N http://localhost:3000/watch',
  remove: `curl -X DELETE ${APPLICATIONS}/default/applications/my-app`,
  createTest: `curl -X POST ${APPLICATIONS}/test/applications \\
  -H "Content-Type: application/json" \\
  -d '{"apiVersion":"cloudnative.elide.dev/v1","kind":"Application","metadata":{"name":"test-app"},"spec":{"replicas":1,"image":"test:latest","strategy":"RollingUpdate"}}'`,
  getTest: `curl ${APPLICATIONS}/test/applications/test-app`,
  events: 'curl http://localhost:3000/events',
}

/** From the document "Production Kubernetes Operator", without the commands that both documents share. */
export const production = {
  ...controller,
  startAlone: 'ENABLE_LEADER_ELECTION=false npm start',
  startNamed: 'POD_NAME=operator-1 npm start',
  healthz: 'curl http://localhost:3000/healthz',
  readyz: 'curl http://localhost:3000/readyz',
  leader: 'curl http://localhost:3000/leader',
  metrics: 'curl http://localhost:3000/metrics',
  reconcileMetrics: 'curl http://localhost:3000/metrics | grep controller_reconcile',
  validate: `curl -X POST http://localhost:3000/validate \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
      "uid": "test-123",
      "kind": {"group": "cloudnative.elide.dev", "version": "v1", "kind": "Application"},
      "resource": {"group": "cloudnative.elide.dev", "version": "v1", "resource": "applications"},
      "operation": "CREATE",
      "userInfo": {"username": "admin"},
      "object": {
        "apiVersion": "cloudnative.elide.dev/v1",
        "kind": "Application",
        "metadata": {"name": "test"},
        "spec": {"replicas": 3, "image": "nginx:latest"}
      }
    }
  }'`,
  startFirst: 'POD_NAME=operator-1 PORT=3001 npm start',
  startSecond: 'POD_NAME=operator-2 PORT=3002 npm start',
  leaderOfFirst: 'curl http://localhost:3001/leader',
  leaderOfSecond: 'curl http://localhost:3002/leader',
  createTest: `curl -X POST ${APPLICATIONS}/test/applications \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {"name": "test-app"},
    "spec": {
      "replicas": 3,
      "image": "nginx:1.21",
      "strategy": "RollingUpdate"
    }
  }'`,
  tooManyReplicas: `curl -X POST ${APPLICATIONS}/test/applications \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {"name": "invalid"},
    "spec": {"replicas": 150, "image": "nginx:latest"}
  }'`,
  noImage: `curl -X POST ${APPLICATIONS}/test/applications \\
  -H "Content-Type: application/json" \\
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {"name": "invalid"},
    "spec": {"replicas": 3}
  }'`,
}

/** The curl commands of the document "claim-controller". */
export const claimController = {
  take: 'curl -X POST http://localhost:8080/claim',
  takeWithTtl: `curl -X POST http://localhost:8080/claim \\
  -H 'Content-Type: application/json' \\
  -d '{"ttl":"5m"}'`,
  renew: `curl -X POST http://localhost:8080/renew/<claim-id> \\
  -H 'Content-Type: application/json' \\
  -d '{"ttl":"2m"}'`,
}
