/** The objects that the cases send. */
import type { Json, JsonObject } from './case.ts'

type Metadata = Readonly<Record<string, Json>>

export const configMap = (name: string, data: JsonObject = { a: '1' }, metadata: Metadata = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})

export const secret = (name: string, metadata: Metadata = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...metadata },
  stringData: { password: 'hunter2' },
})

export const container = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  image: `example.test/${name}:1`,
  ...more,
})

/** The only kind with a pod spec that no controller reconciles. */
export const podTemplate = (name: string, spec: JsonObject, metadata: Metadata = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name, ...metadata },
  template: { metadata: { labels: { app: name } }, spec },
})

/** No scheduler handles it, so that it stays as created. */
export const pod = (name: string, spec: JsonObject = {}, metadata: Metadata = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { schedulerName: 'nobody', containers: [container('web')], ...spec },
})

export const service = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})

const template = (name: string): JsonObject => ({
  metadata: { labels: { app: name } },
  spec: { containers: [container('web')] },
})

export const deployment = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
})

export const statefulSet = (name: string, spec: JsonObject = {}): JsonObject => ({
  ...deployment(name, { serviceName: name, ...spec }),
  kind: 'StatefulSet',
})

export const replicaSet = (name: string, spec: JsonObject = {}): JsonObject => ({
  ...deployment(name, spec),
  kind: 'ReplicaSet',
})

export const daemonSet = (name: string, spec: JsonObject = {}): JsonObject => ({
  ...deployment(name, spec),
  kind: 'DaemonSet',
})

/** Cluster-scoped, so its name contains the namespace of the case. */
export const volume = (spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'volume-{ns}' },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
})

export const job = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [container('work')] } }, ...spec },
})

export const lease = (name: string, spec: JsonObject = { holderIdentity: 'a' }): JsonObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec,
})

export const role = (name: string, rules: Json = []): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules,
})

/** An object of the definition in custom-resource.ts. */
export const widget = (name: string, spec: JsonObject = { size: 3 }, more: JsonObject = {}): JsonObject => ({
  apiVersion: '{group}/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
})
