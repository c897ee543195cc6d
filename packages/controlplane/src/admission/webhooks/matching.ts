import type { KubeObject, LabelMatcher } from '@tenure/kube'
import { notFound } from '../../errors.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceCatalog, ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import { ruleMatches } from './rules.ts'
import type { Webhook } from './webhook.ts'

type Operation = AdmissionAttributes['operation']

/** Decides which webhooks a write concerns. */
export class WebhookMatching {
  readonly #storage: Storage
  readonly #catalog: ResourceCatalog
  readonly #endCatalog: () => void
  #equivalents = new Map<string, readonly ResourceDefinition[]>()

  constructor(storage: Storage, catalog: ResourceCatalog) {
    this.#storage = storage
    this.#catalog = catalog
    this.#endCatalog = catalog.onChange(() => {
      this.#equivalents = new Map()
    })
  }

  close(): void {
    this.#endCatalog()
  }

  /** By its rules alone: the version that is to be sent, undefined if it is none of the webhook's business. */
  versionFor(
    { rules, matchesEquivalent }: Webhook,
    operation: Operation,
    definition: ResourceDefinition,
    subresource: string,
  ): ResourceDefinition | undefined {
    if (rules.some((rule) => ruleMatches(rule, operation, definition, subresource))) return definition
    if (!matchesEquivalent) return undefined
    // Earlier rules count before earlier versions.
    for (const rule of rules) {
      for (const other of this.#equivalentsOf(definition)) {
        if (ruleMatches(rule, operation, other, subresource)) return other
      }
    }
    return undefined
  }

  /** By its selectors, for the objects as the webhook would be shown them. */
  selects({ objects, namespaces }: Webhook, attributes: AdmissionAttributes, seen: SeenObjects): boolean {
    return objectsMatch(objects, seen) && this.#namespaceMatches(namespaces, attributes)
  }

  #equivalentsOf({ bucket, group, version }: ResourceDefinition): readonly ResourceDefinition[] {
    const key = `${bucket} ${group}/${version}`
    let found = this.#equivalents.get(key)
    if (!found) {
      const isOther = (other: ResourceDefinition): boolean =>
        other.bucket === bucket && (other.version !== version || other.group !== group)
      this.#equivalents.set(key, (found = this.#catalog.all().filter(isOther)))
    }
    return found
  }

  #namespaceMatches(selector: LabelMatcher | undefined, attributes: AdmissionAttributes): boolean {
    if (!selector) return true
    const { definition, namespace, name, object, operation, subresource } = attributes
    const isNamespace = definition.bucket === 'namespaces'
    if (!isNamespace && !namespace) return true
    if (isNamespace && subresource === '' && object && (operation === 'CREATE' || operation === 'UPDATE')) {
      return selector.matches(object.metadata?.labels)
    }
    const owner = isNamespace ? name : (namespace ?? '')
    const found = this.#storage.get('namespaces', owner)
    if (!found) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, owner)
    return selector.matches(found.object.metadata.labels)
  }
}

export interface SeenObjects {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

function objectsMatch(selector: LabelMatcher | undefined, { object, oldObject }: SeenObjects): boolean {
  if (!selector) return true
  return [object, oldObject].some((one) => one !== undefined && selector.matches(one.metadata?.labels))
}
