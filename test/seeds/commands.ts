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

/** From the document "NEST Kubernetes Controller"; `go run` is `npm run tenure`. */
export const nestController = {
  exports: `export DB_HOST=localhost
export DB_PORT=5432
export DB_USER=nest
export DB_PASSWORD=your-password
export DB_NAME=nest
export IN_CLUSTER=false
export KUBECONFIG=~/.kube/config
export LOG_LEVEL=debug`,
  run: 'npm run -s tenure -- databases',
  healthz: 'curl http://localhost:8080/healthz',
  readyz: 'curl http://localhost:8080/readyz',
  metrics: 'curl http://localhost:9090/metrics',
  defaults: {
    DB_HOST: 'localhost',
    DB_PORT: '5432',
    DB_USER: 'nest',
    DB_NAME: 'nest',
    DB_SSL_MODE: 'disable',
    IN_CLUSTER: 'true',
    WATCH_ALL_NAMESPACES: 'false',
    NAMESPACE_PREFIX: 'nest-team-',
    RECONCILE_INTERVAL: '30s',
    WORKER_COUNT: '5',
    MAX_RETRIES: '3',
    BACKOFF_BASE: '5s',
    BACKOFF_MAX: '5m',
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
    ENABLE_METRICS: 'true',
    METRICS_PORT: '9090',
    ENABLE_HEALTH_CHECK: 'true',
    HEALTH_CHECK_PORT: '8080',
  },
  deployment: `apiVersion: v1
kind: ServiceAccount
metadata:
  name: nest-controller
  namespace: nest-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: nest-controller
rules:
- apiGroups: [""]
  resources: ["namespaces", "pods"]
  verbs: ["get", "list", "watch"]
- apiGroups: ["apps"]
  resources: ["statefulsets"]
  verbs: ["get", "list", "watch", "create", "update", "patch", "delete"]
- apiGroups: [""]
  resources: ["services", "persistentvolumeclaims"]
  verbs: ["get", "list", "watch", "create", "update", "patch", "delete"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: nest-controller
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: nest-controller
subjects:
- kind: ServiceAccount
  name: nest-controller
  namespace: nest-system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nest-controller
  namespace: nest-system
spec:
  replicas: 1
  selector:
    matchLabels:
      app: nest-controller
  template:
    metadata:
      labels:
        app: nest-controller
    spec:
      serviceAccountName: nest-controller
      containers:
      - name: controller
        image: nest/k8s-controller:latest
        env:
        - name: DB_HOST
          value: "postgresql.nest-system.svc.cluster.local"
        - name: DB_PORT
          value: "5432"
        - name: DB_USER
          value: "nest"
        - name: DB_PASSWORD
          valueFrom:
            secretKeyRef:
              name: nest-db-credentials
              key: password
        - name: DB_NAME
          value: "nest"
        - name: IN_CLUSTER
          value: "true"
        - name: LOG_LEVEL
          value: "info"
        - name: RECONCILE_INTERVAL
          value: "30s"
        ports:
        - containerPort: 8080
          name: health
        - containerPort: 9090
          name: metrics
        livenessProbe:
          httpGet:
            path: /healthz
            port: health
          initialDelaySeconds: 10
          periodSeconds: 30
        readinessProbe:
          httpGet:
            path: /readyz
            port: health
          initialDelaySeconds: 5
          periodSeconds: 10
        resources:
          requests:
            cpu: 100m
            memory: 128Mi
          limits:
            cpu: 500m
            memory: 512Mi
`,
}
