import { randomSuffix } from '@tenure/kube'
import type { Clock, KubeObject, Random } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'
import { admissionDenied } from '../../registry/admission-denied.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import {
  asJsonObjects,
  asNumber,
  filled,
  isSemanticallyEqual,
  isUnset,
  withField,
  withinField,
  withinItems,
} from '../../model/json.ts'
import { withRuntimeScheduling } from './runtime-class-scheduling.ts'
import { SYSTEM_PRIORITIES } from '../../kinds/scheduling/priority-class.ts'

export interface BuiltInAdmissionOptions {
  /** Source of service accounts and classes. */
  readonly storage: Storage
  readonly random: Random
  readonly clock: Clock
  /** Milliseconds for which creating a pod waits for its service account, which a new namespace gets with a delay. Default: 1000. */
  readonly accountTimeoutMs?: number
  /**
   * Pods need a service account, and get its token. Requires a controller that makes the account of each namespace.
   * Default: true.
   */
  readonly requiresAccounts?: boolean
  /** Taints new nodes as not ready. Requires a node controller that removes the taint. Default: false. */
  readonly taintsNodes?: boolean
}

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Lifetime of a pod's token in seconds. */
const TOKEN_EXPIRATION_SECONDS = 3607
const TOKEN_FILE_MODE = 0o644
const EVICTING_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const PROTECTION_FINALIZERS = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
])
const CONCERNED_BUCKETS = new Set(['pods', 'nodes', 'ingresses.networking.k8s.io', ...PROTECTION_FINALIZERS.keys()])

/**
 * The built-in plugins of kube-apiserver: ServiceAccount, Priority, DefaultTolerationSeconds, RuntimeClass,
 * StorageObjectInUseProtection, TaintNodesByCondition and the default StorageClass and IngressClass.
 */
export class BuiltInAdmission implements Admission {
  readonly #storage: Storage
  readonly #random: Random
  readonly #clock: Clock
  readonly #accountTimeoutMs: number
  readonly #requiresAccounts: boolean
  readonly #taintsNodes: boolean

  constructor(options: BuiltInAdmissionOptions) {
    this.#storage = options.storage
    this.#random = options.random
    this.#clock = options.clock
    this.#accountTimeoutMs = options.accountTimeoutMs ?? 1000
    this.#requiresAccounts = options.requiresAccounts ?? true
    this.#taintsNodes = options.taintsNodes ?? false
  }

  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean {
    if (subresource !== '' || !CONCERNED_BUCKETS.has(definition.bucket)) return false
    return operation === 'CREATE' || (operation === 'UPDATE' && definition.bucket === 'pods')
  }

  async mutate(attributes: AdmissionAttributes): Promise<KubeObject | undefined> {
    const { operation, definition, subresource, object } = attributes
    if (!object || !this.concerns(operation, definition, subresource)) return object
    const fields = object as unknown as JsonObject
    const admitted = operation === 'CREATE' ? await this.#created(attributes, fields) : updatedPod(attributes, fields)
    return admitted
  }

  async validate(): Promise<void> {
    // Mutation already refuses invalid requests.
  }

  async #created(attributes: AdmissionAttributes, object: JsonObject): Promise<JsonObject> {
    const { definition } = attributes
    switch (definition.bucket) {
      case 'pods': {
        const tolerant = withinField(object, 'spec', withTolerations)
        const owned = this.#requiresAccounts ? await this.#withAccount(attributes, tolerant) : tolerant
        const prepared = this.#withPriority(attributes, owned)
        return this.#withRuntime(attributes, prepared)
      }
      case 'nodes': {
        if (!this.#taintsNodes) return object
        const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
        const taints = asJsonObjects(valueAtPath(object, 'spec', 'taints'))
        return withField(object, 'spec', { ...asJsonObject(object['spec']), taints: [...taints, taint] })
      }
      case 'persistentvolumeclaims':
        return withProtection(this.#withStorageClass(object), definition.bucket)
      case 'persistentvolumes':
        return withProtection(object, definition.bucket)
      default:
        return this.#withIngressClass(object)
    }
  }

  /** Applies the overhead and the node selection of the pod's RuntimeClass. */
  #withRuntime(attributes: AdmissionAttributes, pod: JsonObject): JsonObject {
    const name = asString(valueAtPath(pod, 'spec', 'runtimeClassName'))
    const found = name ? this.#storage.get('runtimeclasses.node.k8s.io', name)?.object : undefined
    if (name && !found) throw admissionDenied(attributes, `pod rejected: RuntimeClass "${name}" not found`)
    const fixed = valueAtPath(found, 'overhead', 'podFixed')
    return withinField(pod, 'spec', (spec) => {
      const asked = spec['overhead']
      if (!isJsonObject(fixed) && !isUnset(asked)) {
        throw admissionDenied(
          attributes,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        )
      }
      if (isJsonObject(asked) && Object.keys(asked).length > 0 && !isSemanticallyEqual(asked, fixed)) {
        throw admissionDenied(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
      }
      const placed = withRuntimeScheduling(
        isJsonObject(fixed) ? withField(spec, 'overhead', fixed) : spec,
        valueAtPath(found, 'scheduling'),
      )
      if (typeof placed === 'string') throw admissionDenied(attributes, placed)
      return placed
    })
  }

  async #withAccount(attributes: AdmissionAttributes, pod: JsonObject): Promise<JsonObject> {
    const { namespace = '' } = attributes
    const account = asString(valueAtPath(pod, 'spec', 'serviceAccountName')) || 'default'
    const found = await this.#account(namespace, account)
    if (!found) {
      const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`
      throw admissionDenied(attributes, why)
    }
    return withinField(pod, 'spec', (given) => {
      let spec: JsonObject = { ...given, serviceAccountName: account, serviceAccount: account }
      if (asArray(spec['imagePullSecrets']).length === 0 && asArray(found['imagePullSecrets']).length > 0) {
        spec = { ...spec, imagePullSecrets: found['imagePullSecrets'] }
      }
      const mounts = spec['automountServiceAccountToken'] ?? found['automountServiceAccountToken'] ?? true
      return mounts === true ? withToken(spec, () => `kube-api-access-${randomSuffix(this.#random)}`) : spec
    })
  }

  async #account(namespace: string, name: string): Promise<JsonObject | undefined> {
    const key = `${namespace}/${name}`
    const read = (): JsonObject | undefined =>
      this.#storage.get('serviceaccounts', key)?.object as JsonObject | undefined
    const found = read()
    if (found || this.#accountTimeoutMs <= 0) return found
    return new Promise((resolve) => {
      const settle = (account: JsonObject | undefined): void => {
        unsubscribe()
        timer.cancel()
        resolve(account)
      }
      const timer = this.#clock.setTimer(this.#accountTimeoutMs, () => settle(read()))
      const unsubscribe = this.#storage.watch('serviceaccounts', this.#storage.revision, (change) => {
        if (change.key === key && change.current) settle(change.current.object as unknown as JsonObject)
      })
    })
  }

  #withPriority(attributes: AdmissionAttributes, pod: JsonObject): JsonObject {
    const className = asString(valueAtPath(pod, 'spec', 'priorityClassName'))
    const found = className ? this.#priorityClass(className) : this.#defaultPriority()
    if (className && !found) throw admissionDenied(attributes, `no PriorityClass with name ${className} was found`)
    const { value, preemptionPolicy } = found ?? {}
    const priority = asNumber(value)
    const asked = valueAtPath(pod, 'spec', 'priority')
    if (typeof asked === 'number' && asked !== priority) {
      const why = `the integer value of priority (${asked}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`
      throw admissionDenied(attributes, why)
    }
    return withinField(pod, 'spec', (spec) => ({
      ...spec,
      priority,
      ...(found && !className && { priorityClassName: valueAtPath(found, 'metadata', 'name') }),
      preemptionPolicy: preemptionPolicy ?? 'PreemptLowerPriority',
    }))
  }

  #priorityClass(name: string): JsonObject | undefined {
    const stored = this.#storage.get('priorityclasses.scheduling.k8s.io', name)?.object as JsonObject | undefined
    if (stored) return stored
    const value = SYSTEM_PRIORITIES.get(name)
    return value === undefined ? undefined : { value }
  }

  #defaultPriority(): JsonObject | undefined {
    for (const { object } of this.#storage.range('priorityclasses.scheduling.k8s.io')) {
      if (valueAtPath(object, 'globalDefault') === true) return object as unknown as JsonObject
    }
    return undefined
  }

  #withStorageClass(claim: JsonObject): JsonObject {
    if (valueAtPath(claim, 'spec', 'storageClassName') !== undefined) return claim
    const found = this.#newestDefault('storageclasses.storage.k8s.io', 'storageclass.kubernetes.io/is-default-class')
    return found === undefined
      ? claim
      : withinField(claim, 'spec', (spec) => withField(spec, 'storageClassName', found))
  }

  #withIngressClass(ingress: JsonObject): JsonObject {
    const isNamed =
      !isUnset(valueAtPath(ingress, 'spec', 'ingressClassName')) ||
      valueAtPath(ingress, 'metadata', 'annotations', 'kubernetes.io/ingress.class') !== undefined
    if (isNamed) return ingress
    const found = this.#newestDefault('ingressclasses.networking.k8s.io', 'ingressclass.kubernetes.io/is-default-class')
    return found === undefined
      ? ingress
      : withinField(ingress, 'spec', (spec) => withField(spec, 'ingressClassName', found))
  }

  #newestDefault(bucket: string, annotation: string): string | undefined {
    let newest: { readonly name: string; readonly created: string } | undefined
    for (const { object } of this.#storage.range(bucket)) {
      const { name, creationTimestamp: created, annotations } = object.metadata
      if (annotations?.[annotation] === 'true' && (!newest || created > newest.created)) newest = { name, created }
    }
    return newest?.name
  }
}

/** Restores computed fields that an update leaves out. */
function updatedPod({ oldObject }: AdmissionAttributes, pod: JsonObject): JsonObject {
  const { priority, preemptionPolicy } = asJsonObject(valueAtPath(oldObject, 'spec'))
  return withinField(pod, 'spec', (spec) => filled(withTolerations(spec), { priority, preemptionPolicy }))
}

/** Tolerates an unready or unreachable node for five minutes by default. */
function withTolerations(spec: JsonObject): JsonObject {
  const tolerations = asJsonObjects(spec['tolerations'])
  const missing = EVICTING_TAINTS.filter(
    (key) =>
      !tolerations.some(
        (one) =>
          (isUnset(one['key']) || one['key'] === key) && (isUnset(one['effect']) || one['effect'] === 'NoExecute'),
      ),
  )
  if (missing.length === 0) return spec
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }))
  return withField(spec, 'tolerations', [...tolerations, ...added])
}

const isMounted = (container: JsonObject): boolean =>
  asJsonObjects(container['volumeMounts']).some(({ mountPath }) => mountPath === TOKEN_PATH)

/** Adds a volume with the token of the service account and mounts it at the standard path. */
function withToken(given: JsonObject, newName: () => string): JsonObject {
  const lists = ['containers', 'initContainers'] as const
  if (lists.every((list) => asJsonObjects(given[list]).every(isMounted))) return given
  const volumes = asJsonObjects(given['volumes'])
  const known = volumes.find(({ name }) => asString(name).startsWith('kube-api-access-'))
  const name = known ? asString(known['name']) : newName()
  let spec = known ? given : { ...given, volumes: [...volumes, tokenVolume(name)] }
  for (const list of lists) {
    spec = withinItems(spec, list, (container) => {
      if (isMounted(container)) return container
      const mount = { name, readOnly: true, mountPath: TOKEN_PATH }
      return withField(container, 'volumeMounts', [...asJsonObjects(container['volumeMounts']), mount])
    })
  }
  return spec
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_EXPIRATION_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: TOKEN_FILE_MODE,
    },
  }
}

function withProtection(object: JsonObject, bucket: string): JsonObject {
  const finalizer = PROTECTION_FINALIZERS.get(bucket)
  return withinField(object, 'metadata', (metadata) => {
    const finalizers = asArray(metadata['finalizers'])
    return finalizers.includes(finalizer) ? metadata : { ...metadata, finalizers: [...finalizers, finalizer] }
  })
}
