import type { Clock, KubeObject } from '@tenure/kube'
import { refused } from '../../registry/refused.ts'
import { isEqual, valueAt } from '../../registry/json.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import type { Decision, Storage, StoredObject } from '../../storage/types.ts'
import { amountsAt, asObject, excess, only, shown, sum } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import type { QuotaLedger } from './quota-usage.ts'
import { CLAIMS, isInScope, PODS, SERVICES, unsaid, usageOf } from './usage.ts'

export const QUOTAS = 'resourcequotas'

/**
 * ResourceQuotas: refuses what would use up more than there is, and books what is admitted before it is stored, so that
 * two who come at the same time do not get the same last bit. It must be asked last: what it books is as good as stored.
 */
export class ResourceQuotas implements Admission {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #ledger: QuotaLedger

  constructor(storage: Storage, clock: Clock, ledger: QuotaLedger) {
    this.#storage = storage
    this.#clock = clock
    this.#ledger = ledger
  }

  concerns(operation: AdmissionAttributes['operation'], definition: ResourceDefinition, subresource: string): boolean {
    // Nobody who has none pays for them.
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
    const usage = usageOf(bucket, object, now)
    const before: Amounts = oldObject ? usageOf(bucket, oldObject, now) : new Map()
    const concerned = Array.from(this.#storage.range(QUOTAS, { namespace })).filter((quota) =>
      isInScope(quota.object, bucket, object),
    )
    for (const quota of concerned) this.#checkSaid(attributes, quota, object)
    const key = `${namespace}/${object.metadata?.name ?? attributes.name}`
    for (const quota of concerned) {
      const wasCounted = oldObject !== undefined && isInScope(quota.object, bucket, oldObject)
      const added = wasCounted ? excess(usage, before) : usage
      const booking = this.#storage.write(QUOTAS, quota.key, (current): Decision<undefined> => {
        if (!current) throw new QuotaGone()
        const next = this.#booked(attributes, current, added)
        if (dryRun || next === current.object) return { keep: true }
        this.#ledger.book(quota.key, { bucket, key, amounts: added })
        return { put: next }
      })
      await booking.catch(ignoreGone)
    }
  }

  #checkSaid(attributes: AdmissionAttributes, quota: StoredObject, object: KubeObject): void {
    if (attributes.definition.bucket !== PODS) return
    const wrong = unsaid(object, amountsAt(quota.object, 'spec.hard').keys())
    if (wrong === undefined) return
    const why = `failed quota: ${quota.object.metadata.name}: ${wrong}`
    throw refused(attributes, why)
  }

  /** The quota with this booked to it. Throws if it does not fit in. */
  #booked(attributes: AdmissionAttributes, { object: quota }: StoredObject, added: Amounts): KubeObject {
    const hard = amountsAt(quota, 'spec.hard')
    const requested = new Map([...only(added, hard.keys())].filter(([, { nanos }]) => nanos > 0n))
    if (requested.size === 0) return quota
    const used = this.#usedOf(quota)
    const next = sum(used, requested)
    const exceeded = [...requested.keys()].filter(
      (resource) => (next.get(resource)?.nanos ?? 0n) > (hard.get(resource)?.nanos ?? 0n),
    )
    if (exceeded.length > 0) {
      const why = `exceeded quota: ${quota.metadata.name}, requested: ${shown(only(requested, exceeded))}, used: ${shown(only(used, exceeded))}, limited: ${shown(only(hard, exceeded))}`
      throw refused(attributes, why)
    }
    return withStatus(quota, hard, next)
  }

  /** What a quota says is used, or what really is if it was not counted since its limits changed. */
  #usedOf(quota: KubeObject): Amounts {
    const [spec, counted] = [valueAt(quota, 'spec.hard'), valueAt(quota, 'status.hard')]
    const isCounted = counted !== undefined && isEqual(spec, counted)
    return isCounted ? amountsAt(quota, 'status.used') : this.#ledger.used(quota)
  }
}

/** A quota that was deleted meanwhile limits nothing. */
class QuotaGone extends Error {}

function ignoreGone(error: unknown): void {
  if (!(error instanceof QuotaGone)) throw error
}

export function withStatus(quota: KubeObject, hard: Amounts, used: Amounts): KubeObject {
  const status = { hard: asObject(hard), used: asObject(only(used, hard.keys())) }
  return isEqual(valueAt(quota, 'status'), status) ? quota : ({ ...quota, status } as KubeObject)
}
