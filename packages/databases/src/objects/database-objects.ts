import type { ConfigMap, Namespace, PodDisruptionBudget, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { TenureError } from '@tenure/kube'
import { MANAGED_BY_LABEL, OPERATOR } from '../api/names.ts'
import type { DatabaseConfig } from '../config/database-config.ts'
import { bytesOf } from '../config/fields.ts'
import type { Engine, EngineContext } from '../engines/engine.ts'
import { ENGINES, layoutOf } from '../engines/table.ts'
import { connectionSecretData, type SecretData } from './credentials.ts'
import { hostOf, labelsOf, objectNames, selectorOf } from './names.ts'
import { statefulSetFor } from './stateful-set.ts'

export interface DatabaseObjectsInput {
  readonly name: string
  readonly namespace: string
  /** `resources.id`. */
  readonly resourceId: string
  readonly config: DatabaseConfig
  /** As `credentialsOf` returns it. */
  readonly credentials: SecretData
}

export interface DatabaseObjects {
  readonly namespace: Namespace
  readonly secret: Secret
  readonly headlessService: Service
  readonly clientService: Service
  readonly configMap: ConfigMap
  readonly statefulSet: StatefulSet
  /** Undefined with one pod: a budget would only block the drain of its node. */
  readonly podDisruptionBudget: PodDisruptionBudget | undefined
}

/** Every object of one database, as server-side apply sends it. */
export function databaseObjects(input: DatabaseObjectsInput): DatabaseObjects {
  const { name, namespace, resourceId, config, credentials } = input
  const engine = ENGINES[config.engine]
  const names = objectNames(name)
  const context = contextOf(engine, input)
  const settingsText = engine.renderSettings(context)
  const labels = labelsOf(name, resourceId)
  return {
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { [MANAGED_BY_LABEL]: OPERATOR } },
    },
    secret: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: names.secret, namespace, labels },
      type: 'Opaque',
      data: encoded(connectionSecretData(engine, { name, namespace }, credentials)),
    },
    headlessService: headlessService(engine, input),
    clientService: clientService(engine, input),
    configMap: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: names.configMap, namespace, labels },
      data: { [engine.settingsFile.name]: settingsText },
    },
    statefulSet: statefulSetFor({ name, namespace, resourceId, engine, config, context, settingsText }),
    podDisruptionBudget: config.replicas > 1 ? podDisruptionBudget(input) : undefined,
  }
}

function contextOf(engine: Engine, { name, namespace, config }: DatabaseObjectsInput): EngineContext {
  const layout = layoutOf(engine, config.major)
  if (!layout) {
    throw new TenureError(
      'TENURE_DATABASE_VERSION_UNKNOWN',
      `The engine table has no ${engine.title} ${config.major}: read the config before rendering it.`,
      { fate: 'bug' },
    )
  }
  const { headlessService, secret } = objectNames(name)
  return {
    layout,
    settings: config.settings,
    memoryLimit: bytesOf(config.limits.memory),
    secretName: secret,
    primaryHost: `${name}-0.${hostOf(headlessService, namespace)}`,
  }
}

const encoded = (data: SecretData): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))

const portsOf = ({ portName, port }: Engine) => [
  { name: portName, port, targetPort: portName, protocol: 'TCP' as const },
]

function headlessService(engine: Engine, { name, namespace, resourceId }: DatabaseObjectsInput): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: objectNames(name).headlessService, namespace, labels: labelsOf(name, resourceId) },
    spec: {
      clusterIP: 'None',
      // A replica must find its primary before either is ready.
      publishNotReadyAddresses: true,
      selector: selectorOf(name),
      ports: portsOf(engine),
    },
  }
}

function clientService(engine: Engine, { name, namespace, resourceId }: DatabaseObjectsInput): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: objectNames(name).clientService, namespace, labels: labelsOf(name, resourceId) },
    spec: {
      type: 'ClusterIP',
      // Only the primary takes writes.
      selector: engine.isReplicated
        ? { ...selectorOf(name), 'statefulset.kubernetes.io/pod-name': `${name}-0` }
        : selectorOf(name),
      ports: portsOf(engine),
    },
  }
}

function podDisruptionBudget({ name, namespace, resourceId }: DatabaseObjectsInput): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: objectNames(name).podDisruptionBudget, namespace, labels: labelsOf(name, resourceId) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(name) } },
  }
}
