import { isIP } from 'node:net'
import type { KubeObject, ObjectMeta } from '@tenure/kube'
import { defineKind, type Kind, TenureError } from '@tenure/kube'
import type { Webhook } from '../webhook.ts'

/** Address under which the API server calls the webhooks. */
export type ClientAddress =
  | {
      readonly service: {
        readonly namespace: string
        readonly name: string
        /** Default 443. */
        readonly port?: number
      }
    }
  /** `https://host:port`, prefixed to each webhook's path. */
  | { readonly url: string }

export interface WebhookConfigurationEntry {
  readonly name: string
  readonly clientConfig: {
    readonly caBundle?: string
    readonly url?: string
    readonly service?: {
      readonly namespace: string
      readonly name: string
      readonly path?: string
      readonly port?: number
    }
  }
}

export interface WebhookConfiguration extends KubeObject {
  readonly metadata?: ObjectMeta
  readonly webhooks?: readonly WebhookConfigurationEntry[]
}

export type ConfigurationType = Webhook['type']

const APIVERSION = 'admissionregistration.k8s.io/v1'

const KINDS: Readonly<Record<ConfigurationType, Kind<WebhookConfiguration>>> = {
  validating: defineKind<WebhookConfiguration>({
    apiVersion: APIVERSION,
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
  }),
  mutating: defineKind<WebhookConfiguration>({
    apiVersion: APIVERSION,
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
  }),
}

export function configurationKind(type: ConfigurationType): Kind<WebhookConfiguration> {
  return KINDS[type]
}

/** The configuration of all `webhooks` of a type. Defaults are explicit, so that it equals what the server returns. */
export function configurationOf(
  type: ConfigurationType,
  name: string,
  webhooks: readonly Webhook[],
  address: ClientAddress,
  bundle: string,
): WebhookConfiguration {
  const caBundle = Buffer.from(bundle).toString('base64')
  return {
    apiVersion: APIVERSION,
    kind: KINDS[type].kind,
    metadata: { name },
    webhooks: webhooks
      .filter((webhook) => webhook.type === type)
      .map((webhook) => ({
        name: webhook.name,
        clientConfig: { caBundle, ...locate(address, webhook.path) },
        rules: webhook.rules,
        failurePolicy: webhook.failurePolicy,
        matchPolicy: webhook.matchPolicy,
        namespaceSelector: webhook.namespaceSelector,
        objectSelector: webhook.objectSelector,
        sideEffects: webhook.sideEffects,
        timeoutSeconds: webhook.timeoutSeconds,
        admissionReviewVersions: ['v1'],
        ...(webhook.matchConditions.length > 0 && { matchConditions: webhook.matchConditions }),
        ...(type === 'mutating' && { reinvocationPolicy: webhook.reinvocationPolicy }),
      })),
  }
}

/** The host names and IP addresses that the serving certificate must cover. */
export function namesOf(address: ClientAddress): {
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
} {
  if ('service' in address) {
    const { name, namespace } = address.service
    // The API server uses <name>.<namespace>.svc; the other names are for people and other callers.
    const dnsNames = [
      `${name}.${namespace}.svc`,
      `${name}.${namespace}`,
      name,
      `${name}.${namespace}.svc.cluster.local`,
    ]
    return { dnsNames, ipAddresses: [] }
  }
  const host = baseUrl(address.url).hostname.replaceAll(/^\[|\]$/g, '')
  return isIP(host) === 0 ? { dnsNames: [host], ipAddresses: [] } : { dnsNames: [], ipAddresses: [host] }
}

function locate(address: ClientAddress, path: string): Omit<WebhookConfigurationEntry['clientConfig'], 'caBundle'> {
  if ('service' in address) return { service: { port: 443, ...address.service, path } }
  return { url: baseUrl(address.url).href.replace(/\/$/, '') + path }
}

function baseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol === 'https:' && !parsed.search && !parsed.hash && !parsed.username) return parsed
  throw new TenureError(
    'TENURE_WEBHOOK_ADDRESS',
    `"${url}" is not a webhook address: use https://host:port without user, query or fragment.`,
  )
}
