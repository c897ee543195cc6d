import type { KubeObject, LabelSelector } from '@tenure/kube'
import { LabelMatcher } from '@tenure/kube'

export interface ConfiguredRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  /** For example `pods`, `pods/status`, `pods/*`, `*`, `*\/*`. */
  readonly resources: readonly string[]
  readonly scope: string
}

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly path: string
  readonly port: number
}

export interface ConfiguredCondition {
  readonly name: string
  readonly expression: string
}

/** One webhook of a stored configuration. */
export interface StoredWebhookConfig {
  /** Unique across configurations. */
  readonly id: string
  readonly name: string
  readonly url: string | undefined
  readonly service: ServiceReference | undefined
  /** Base64, as stored. */
  readonly caBundle: string
  readonly rules: readonly ConfiguredRule[]
  readonly isFailureIgnored: boolean
  readonly matchesEquivalent: boolean
  readonly isReinvocable: boolean
  /** Undefined selects everything. */
  readonly namespaces: LabelMatcher | undefined
  readonly objects: LabelMatcher | undefined
  readonly matchConditions: readonly ConfiguredCondition[]
  readonly sideEffects: string
  readonly timeoutSeconds: number
  /** The first supported version; undefined if none is supported. */
  readonly reviewVersion: 'v1' | 'v1beta1' | undefined
}

/** A stored webhook, defaulted and validated by the registry. */
interface StoredWebhook {
  readonly name?: string
  readonly clientConfig?: {
    readonly url?: string
    readonly service?: Partial<ServiceReference>
    readonly caBundle?: string
  }
  readonly rules?: readonly Partial<ConfiguredRule>[]
  readonly failurePolicy?: string
  readonly matchPolicy?: string
  readonly reinvocationPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly ConfiguredCondition[]
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
}

const DEFAULT_TIMEOUT_SECONDS = 10

export function webhooksOf(configuration: KubeObject): readonly StoredWebhookConfig[] {
  const { webhooks = [] } = configuration as { readonly webhooks?: readonly StoredWebhook[] }
  return webhooks.map((webhook, index) => {
    const { name = '', clientConfig: { url, service, caBundle = '' } = {} } = webhook
    return {
      id: `${configuration.metadata?.name ?? ''}/${name}/${index}`,
      name,
      url,
      service: service && { namespace: '', name: '', path: '', port: 443, ...service },
      caBundle,
      rules: (webhook.rules ?? []).map((rule) => ({
        operations: [],
        apiGroups: [],
        apiVersions: [],
        resources: [],
        scope: '*',
        ...rule,
      })),
      isFailureIgnored: webhook.failurePolicy === 'Ignore',
      matchesEquivalent: webhook.matchPolicy !== 'Exact',
      isReinvocable: webhook.reinvocationPolicy === 'IfNeeded',
      namespaces: matcherOf(webhook.namespaceSelector),
      objects: matcherOf(webhook.objectSelector),
      matchConditions: webhook.matchConditions ?? [],
      sideEffects: webhook.sideEffects ?? '',
      timeoutSeconds: webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      reviewVersion: webhook.admissionReviewVersions?.find((version) => version === 'v1' || version === 'v1beta1'),
    }
  })
}

function matcherOf(selector: LabelSelector | undefined): LabelMatcher | undefined {
  const matcher = LabelMatcher.from(selector ?? {})
  return matcher.isEmpty ? undefined : matcher
}
