import type { KubeObject, LabelMatcher } from '@tenure/kube'
import { notFound } from '../../errors.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceCatalog, ResourceDefinition } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import { ruleMatches } from './rules.ts'
import type { StoredWebhookConfig } from './webhook.ts'

type Operation = AdmissionAttributes['operation']

/** Decides which webhooks are called for a write. */
export class WebhookMatching {
  readonly #storage: Storage
  readonly #catalog: ResourceCatalog
  readonly #unsubscribe: () => void
  #equivalents = new Map<string, readonly ResourceDefinition[]>()

  constructor(storage: Storage, catalog: ResourceCatalog) {
    this.#storage = storage
    this.#catalog = catalog
    this.#unsubscribe = catalog.onChange(() => {
      this.#equivalents = new Map()
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Matches the rules only. Returns the version to send, or undefined if no rule matches. */
  versionFor(
    { rules, matchesEquivalent }: StoredWebhookConfig,
    operation: Operation,
    definition: ResourceDefinition,
    subresource: string,
  ): ResourceDefinition | undefined {
    if (rules.some((rule) => ruleMatches(rule, operation, definition, subresource))) return definition
    if (!matchesEquivalent) return undefined
    // The order of rules takes precedence over the order of versions.
    for (const rule of rules) {
      for (const other of this.#equivalentsOf(definition)) {
        if (ruleMatches(rule, operation, other, subresource)) return other
      }
    }
    return undefined
  }

  /** Matches the selectors, against the objects as the webhook would receive them. */
  selects(
    { objects, namespaces }: StoredWebhookConfig,
    attributes: AdmissionAttributes,
    reviewed: ReviewedObjects,
  ): boolean {
    return objectsMatch(objects, reviewed) && this.#namespaceMatches(namespaces, attributes)
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

export interface ReviewedObjects {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

function objectsMatch(selector: LabelMatcher | undefined, { object, oldObject }: ReviewedObjects): boolean {
  if (!selector) return true
  return [object, oldObject].some((one) => one !== undefined && selector.matches(one.metadata?.labels))
}
