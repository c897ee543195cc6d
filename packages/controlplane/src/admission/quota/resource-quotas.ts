import type { Clock, KubeObject } from '@tenure/kube'
import { isDeepEqual, valueAtPath } from '@tenure/kube/model'
import { admissionDenied } from '../../registry/admission-denied.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { WriteDecision, Storage, StoredObject } from '../../storage/types.ts'
import { amountsAt, asObject, excess, only, shown, sum } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import type { QuotaUsage } from './quota-usage.ts'
import { CLAIMS, isInScope, PODS, SERVICES, missingResources, usageOf } from './usage.ts'

export const QUOTAS = 'resourcequotas'

/**
 * The ResourceQuota plugin: refuses requests that exceed a quota and reserves what it admits, so that concurrent requests
 * do not share the same remainder. It must run last, because a later refusal would leave the reservation behind.
 */
export class ResourceQuotas implements Admission {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #usage: QuotaUsage

  constructor(storage: Storage, clock: Clock, usage: QuotaUsage) {
    this.#storage = storage
    this.#clock = clock
    this.#usage = usage
  }

  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean {
    // Without ResourceQuotas writes skip this plugin.
    if (subresource !== '' || !definition.namespaced || this.#storage.count(QUOTAS) === 0) return false
    const { bucket } = definition
    return operation === 'CREATE' || (operation === 'UPDATE' && (bucket === SERVICES || bucket === CLAIMS))
  }

  mutate({ object }: AdmissionAttributes): Promise<KubeObject | undefined> {
    return Promise.resolve(object)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { namespace, definition, object, oldObject, dryRun } = attributes
    if (namespace === undefined || !object || this.#storage.count(QUOTAS, namespace) === 0) return
    const { bucket } = definition
    const now = this.#clock.now()
    const requested = usageOf(bucket, object, now)
    const before: Amounts = oldObject ? usageOf(bucket, oldObject, now) : new Map()
    const concerned = Array.from(this.#storage.range(QUOTAS, { namespace })).filter((quota) =>
      isInScope(quota.object, bucket, object),
    )
    for (const quota of concerned) this.#checkSpecified(attributes, quota, object)
    const key = `${namespace}/${object.metadata?.name ?? attributes.name}`
    for (const quota of concerned) {
      const wasCounted = oldObject !== undefined && isInScope(quota.object, bucket, oldObject)
      const added = wasCounted ? excess(requested, before) : requested
      const reservation = this.#storage.write(QUOTAS, quota.key, (current): WriteDecision<undefined> => {
        if (!current) throw new QuotaDeleted()
        const next = this.#withReservation(attributes, current, added)
        if (dryRun || next === current.object) return { keep: true }
        this.#usage.reserve(quota.key, { bucket, key, amounts: added })
        return { put: next }
      })
      await reservation.catch(ignoreDeleted)
    }
  }

  #checkSpecified(attributes: AdmissionAttributes, quota: StoredObject, object: KubeObject): void {
    if (attributes.definition.bucket !== PODS) return
    const missing = missingResources(object, amountsAt(quota.object, 'spec', 'hard').keys())
    if (missing === undefined) return
    const why = `failed quota: ${quota.object.metadata.name}: ${missing}`
    throw admissionDenied(attributes, why)
  }

  /** The quota with the added usage. Throws if that exceeds the quota. */
  #withReservation(attributes: AdmissionAttributes, { object: quota }: StoredObject, added: Amounts): KubeObject {
    const hard = amountsAt(quota, 'spec', 'hard')
    const requested = new Map([...only(added, hard.keys())].filter(([, { nanos }]) => nanos > 0n))
    if (requested.size === 0) return quota
    const used = this.#usedOf(quota)
    const next = sum(used, requested)
    const exceeded = [...requested.keys()].filter(
      (resource) => (next.get(resource)?.nanos ?? 0n) > (hard.get(resource)?.nanos ?? 0n),
    )
    if (exceeded.length > 0) {
      const why = `exceeded quota: ${quota.metadata.name}, requested: ${shown(only(requested, exceeded))}, used: ${shown(only(used, exceeded))}, limited: ${shown(only(hard, exceeded))}`
      throw admissionDenied(attributes, why)
    }
    return withStatus(quota, hard, next)
  }

  /** `status.used`, or a fresh count if the limits changed after the last one. */
  #usedOf(quota: KubeObject): Amounts {
    const [spec, counted] = [valueAtPath(quota, 'spec', 'hard'), valueAtPath(quota, 'status', 'hard')]
    const isCounted = counted !== undefined && isDeepEqual(spec, counted)
    return isCounted ? amountsAt(quota, 'status', 'used') : this.#usage.used(quota)
  }
}

/** Thrown when the quota was deleted during admission: it no longer limits anything. */
class QuotaDeleted extends Error {}

function ignoreDeleted(error: unknown): void {
  if (!(error instanceof QuotaDeleted)) throw error
}

export function withStatus(quota: KubeObject, hard: Amounts, used: Amounts): KubeObject {
  const status = { hard: asObject(hard), used: asObject(only(used, hard.keys())) }
  return isDeepEqual(valueAtPath(quota, 'status'), status) ? quota : ({ ...quota, status } as KubeObject)
}
