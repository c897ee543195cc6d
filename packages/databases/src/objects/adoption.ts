import type { Container, PersistentVolumeClaim, StatefulSet } from '@tenure/kube/kinds'
import { isDeepEqual, isJsonObject, type JsonObject } from '@tenure/kube/model'
import { MANAGED_BY_LABEL, OPERATOR } from '../api/names.ts'
import type { DatabaseConfig } from '../config/database-config.ts'
import { ENGINES } from '../engines/table.ts'
import { majorOf } from '../engines/version.ts'
import { MAJOR_ANNOTATION } from './names.ts'
import { dataTemplate } from './storage-plan.ts'

/** Whether another program created the StatefulSet. Claim templates cannot change, so their labels are proof. */
export function isLegacy(live: StatefulSet): boolean {
  const templates = live.spec?.volumeClaimTemplates ?? []
  return !templates.some(({ metadata }) => metadata?.labels?.[MANAGED_BY_LABEL] === OPERATOR)
}

/** Whether the data of a legacy StatefulSet survives its pods. */
export function hasVolumes(live: StatefulSet): boolean {
  const volumes = live.spec?.template.spec?.volumes ?? []
  const isMounted = volumes.some(({ persistentVolumeClaim, hostPath, nfs }) => persistentVolumeClaim ?? hostPath ?? nfs)
  return isMounted || (live.spec?.volumeClaimTemplates?.length ?? 0) > 0
}

/** The container of the server: the one with the engine's port, or the first. */
export function serverContainer(live: StatefulSet, { engine }: Pick<DatabaseConfig, 'engine'>): Container | undefined {
  const containers = live.spec?.template.spec?.containers ?? []
  const { port } = ENGINES[engine]
  return containers.find(({ ports = [] }) => ports.some(({ containerPort }) => containerPort === port)) ?? containers[0]
}

/** The major version of a running database; undefined if neither its image nor its annotation tells it. */
export function liveMajor(live: StatefulSet, config: Pick<DatabaseConfig, 'engine'>): string | undefined {
  const image = serverContainer(live, config)?.image ?? ''
  return majorOf(ENGINES[config.engine], image) ?? live.metadata?.annotations?.[MAJOR_ANNOTATION]
}

/**
 * The config with defaults that fit a running database: a default must not change its version or its volume. Keys that
 * the row names stay.
 */
export function withLiveDefaults(config: DatabaseConfig, live: StatefulSet): DatabaseConfig {
  const image = serverContainer(live, config)?.image
  const major = liveMajor(live, config)
  const size = dataTemplate(live)?.spec?.resources?.requests?.['storage']
  const storageClass = dataTemplate(live)?.spec?.storageClassName
  const isVersionGiven = config.given.has('image') || config.given.has('version')
  const keepsImage = !isVersionGiven && image !== undefined && (isLegacy(live) || major !== config.major)
  return {
    ...config,
    ...(keepsImage && { image, major: major ?? config.major }),
    ...(!config.given.has('storage_size') && size !== undefined && { storageSize: size }),
    ...(!config.given.has('storage_class') && storageClass !== undefined && { storageClass }),
  }
}

/** Differences that the API server refuses in an update, as sentences; sizes of volumes are `storagePlan`'s. */
export function immutableChanges(live: StatefulSet, desired: StatefulSet): readonly string[] {
  const [from, to] = [live.spec, desired.spec]
  const reasons: string[] = []
  const compare = (field: string, before: unknown, after: unknown): void => {
    if (!isDeepEqual(before, after)) {
      reasons.push(`${field} cannot change from ${shownField(before)} to ${shownField(after)}.`)
    }
  }
  compare('selector', from?.selector, to?.selector)
  compare('serviceName', from?.serviceName, to?.serviceName)
  compare('podManagementPolicy', from?.podManagementPolicy ?? 'OrderedReady', to?.podManagementPolicy ?? 'OrderedReady')
  const [claims, desiredClaims] = [from?.volumeClaimTemplates ?? [], to?.volumeClaimTemplates ?? []]
  compare('volumeClaimTemplates', claims.map(nameOf), desiredClaims.map(nameOf))
  for (const claim of desiredClaims) {
    const before = claims.find((candidate) => nameOf(candidate) === nameOf(claim))
    if (!before) continue
    compare(`storage_class of ${nameOf(claim)}`, before.spec?.storageClassName, claim.spec?.storageClassName)
    compare(`access modes of ${nameOf(claim)}`, before.spec?.accessModes, claim.spec?.accessModes)
  }
  return reasons
}

const shownField = (value: unknown): string => (value === undefined ? 'the default' : JSON.stringify(value))

const nameOf = (claim: PersistentVolumeClaim): string => claim.metadata?.name ?? ''

/** How a legacy StatefulSet is managed. */
export interface Adoption {
  /** As server-side apply sends it. Fields that it leaves out stay as they are. */
  readonly statefulSet: StatefulSet
  /** The Secret from which the pods read their password; the operator makes none, because its password would be wrong. */
  readonly secretName: string | undefined
  /** The Service that governs the pods' names; it is not the operator's. */
  readonly serviceName: string | undefined
  /** Keys of the row that have no effect, as sentences for the job's log. */
  readonly warnings: readonly string[]
}

/**
 * Adopts a StatefulSet of another program. The operator owns its labels, its replicas and, of the pod template, the image and
 * those resources that the row names. An image that the row does not name stays, like everything else, and so does a value
 * whose key the row no longer has: pods restart only for a value that the row asks for.
 */
export function adopted(
  live: StatefulSet,
  desired: StatefulSet,
  config: DatabaseConfig,
): Adoption | { readonly refused: string } {
  if (!hasVolumes(live)) {
    return {
      refused:
        'The StatefulSet exists and has no volume, so its data ends with its pods. Save the data, then set migrate to true to recreate it.',
    }
  }
  const container = serverContainer(live, config)
  if (!live.spec || !container) return { refused: 'The StatefulSet exists and has no container.' }
  const template = ownedTemplate(live, container, config)
  return {
    statefulSet: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {
        ...(desired.metadata?.name !== undefined && { name: desired.metadata.name }),
        ...(desired.metadata?.namespace !== undefined && { namespace: desired.metadata.namespace }),
        ...(desired.metadata?.labels && { labels: desired.metadata.labels }),
      },
      spec: {
        replicas: config.replicas,
        selector: live.spec.selector,
        ...(live.spec.serviceName !== undefined && { serviceName: live.spec.serviceName }),
        template,
      },
    },
    secretName: passwordSecret(container),
    serviceName: live.spec.serviceName,
    warnings: ignoredKeys(config),
  }
}

function ownedTemplate(live: StatefulSet, container: Container, { given, image, requests, limits }: DatabaseConfig) {
  const isImageGiven = given.has('image') || given.has('version')
  const before = ownedResources(live, container)
  const owned = {
    requests: {
      ...before.requests,
      ...(given.has('cpu_request') && { cpu: requests.cpu }),
      ...(given.has('memory_request') && { memory: requests.memory }),
    },
    limits: {
      ...before.limits,
      ...(given.has('cpu_limit') && limits.cpu !== undefined && { cpu: limits.cpu }),
      ...(given.has('memory_limit') && { memory: limits.memory }),
    },
  }
  const resources = Object.fromEntries(Object.entries(owned).filter(([, amounts]) => Object.keys(amounts).length > 0))
  return {
    spec: {
      containers: [
        {
          name: container.name,
          // Always sent: a field that the operator no longer sends is removed, and an image is required.
          ...(isImageGiven ? { image } : container.image !== undefined && { image: container.image }),
          ...(Object.keys(resources).length > 0 && { resources }),
        },
      ],
    },
  }
}

/**
 * The resources that an earlier config of the row has set, with the values that they have now. A field that an apply leaves
 * out is removed from the object, so they are sent for as long as the StatefulSet lives.
 */
function ownedResources(live: StatefulSet, { name, resources }: Container) {
  const { fieldsV1 } =
    live.metadata?.managedFields?.find(({ manager, operation }) => manager === OPERATOR && operation === 'Apply') ?? {}
  const path = ['f:spec', 'f:template', 'f:spec', 'f:containers', `k:${JSON.stringify({ name })}`, 'f:resources']
  const amountsOf = (kind: 'requests' | 'limits') => {
    const fields = fieldsAt(fieldsV1, [...path, `f:${kind}`])
    return Object.fromEntries(
      Object.entries(resources?.[kind] ?? {}).filter(([amount]) => fields[`f:${amount}`] !== undefined),
    )
  }
  return { requests: amountsOf('requests'), limits: amountsOf('limits') }
}

function fieldsAt(fields: unknown, path: readonly string[]): JsonObject {
  let at = fields
  for (const step of path) at = isJsonObject(at) ? at[step] : undefined
  return isJsonObject(at) ? at : {}
}

/** Variables with which the official images and their common relatives get the password that clients use. */
const PASSWORD_VARIABLES = [
  'POSTGRES_PASSWORD',
  'MARIADB_PASSWORD',
  'MYSQL_PASSWORD',
  'MARIADB_ROOT_PASSWORD',
  'MYSQL_ROOT_PASSWORD',
  'REDIS_PASSWORD',
  'VALKEY_PASSWORD',
  'REDISCLI_AUTH',
]

function passwordSecret({ env = [] }: Container): string | undefined {
  for (const variable of PASSWORD_VARIABLES) {
    const reference = env.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef
    if (reference?.name !== undefined) return reference.name
  }
  return undefined
}

function ignoredKeys({ settings, given }: DatabaseConfig): readonly string[] {
  return [
    ...(settings.size > 0 ? ['Settings have no effect on an adopted StatefulSet: it does not mount them.'] : []),
    ...(given.has('storage_class') ? ['storage_class has no effect on an adopted StatefulSet.'] : []),
  ]
}
