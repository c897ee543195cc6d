import type { JsonObject } from '@tenure/kube/model'
import type { KubeObject, LabelSelector } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { silentLogger } from '@tenure/runtime'
import type { Admission, AdmissionAttributes } from '../registry/request.ts'
import { catalogOf, KINDS } from '../registry/testing/catalog.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import { StatusError } from '../errors.ts'
import { openStorage } from '../storage/index.ts'
import type { Storage } from '../storage/index.ts'
import type { WebhookAdmission } from './admission.ts'
import { createAdmission } from './admission.ts'
import type { ResolveService } from './webhooks/client/call-webhook.ts'
import type { WebhookCaller, WebhookPost } from './webhooks/client/caller.ts'

/** Returns an AdmissionResponse without uid, or a whole HTTP response. */
export type FakeWebhookHandler = (request: JsonObject, post: WebhookPost) => JsonObject | Promise<JsonObject>

/** Responds by path and records the requests. */
export class FakeCaller implements WebhookCaller {
  readonly posts: WebhookPost[] = []
  readonly requests: JsonObject[] = []
  readonly handlers = new Map<string, FakeWebhookHandler>()
  isClosed = false

  get paths(): readonly string[] {
    return this.posts.map(({ url }) => url.pathname)
  }

  async post(post: WebhookPost): Promise<{ status: number; contentType: string; body: string }> {
    this.posts.push(post)
    const review = JSON.parse(post.body) as { readonly apiVersion: string; readonly request: JsonObject }
    this.requests.push(review.request)
    const handler = this.handlers.get(post.url.pathname)
    if (!handler) throw new Error('dial tcp 127.0.0.1:9443: connect: connection refused')
    const response = await handler(review.request, post)
    const contentType = 'application/json'
    if (typeof response['body'] === 'string') return { status: 200, contentType, body: response['body'], ...response }
    const { apiVersion } = review
    const body = { kind: 'AdmissionReview', apiVersion, response: { uid: review.request['uid'], ...response } }
    return { status: 200, contentType, body: JSON.stringify(body) }
  }

  close(): void {
    this.isClosed = true
  }
}

export const patch = (...operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

interface WebhookBrief extends JsonObject {
  /** Default: all operations on ConfigMaps. */
  readonly rules?: readonly JsonObject[]
  readonly namespaceSelector?: LabelSelector
}

/** A webhook of a configuration, served under `/<first part of its name>`. */
export function webhook(name: string, brief: WebhookBrief = {}): JsonObject {
  return {
    name: `${name}.example.dev`,
    clientConfig: { url: `https://127.0.0.1:9443/${name}` },
    rules: [rule('configmaps')],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
    timeoutSeconds: 10,
    ...brief,
  }
}

export function rule(resource: string, brief: JsonObject = {}): JsonObject {
  return { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [resource], scope: '*', ...brief }
}

export class AdmissionHarness {
  readonly caller = new FakeCaller()
  readonly clock = new VirtualClock()
  readonly warnings: string[] = []
  readonly storage: Storage
  readonly admission: WebhookAdmission

  private constructor(storage: Storage, options: HarnessOptions) {
    this.storage = storage
    const { builtIn, resolveService, definitions } = options
    this.admission = createAdmission({
      storage,
      catalog: catalogOf(definitions),
      clock: this.clock,
      random: seededRandom(1),
      caller: this.caller,
      builtIn,
      resolveService,
    })
  }

  static async open(options: HarnessOptions = {}): Promise<AdmissionHarness> {
    const storage = await openStorage({ clock: new VirtualClock(), log: silentLogger })
    const harness = new AdmissionHarness(storage, options)
    await harness.store('namespaces', 'default', { kind: 'Namespace', apiVersion: 'v1' })
    return harness
  }

  async store(bucket: string, key: string, object: JsonObject): Promise<void> {
    const [name = '', namespace] = key.split('/').toReversed()
    const metadata = { name, ...(namespace && { namespace }), ...(object['metadata'] as object) }
    await this.storage.write(bucket, key, () => ({ put: { ...object, metadata } as KubeObject }))
  }

  configure(type: 'mutating' | 'validating', name: string, webhooks: readonly JsonObject[]): Promise<void> {
    return this.store(`${type}webhookconfigurations.admissionregistration.k8s.io`, name, { webhooks })
  }

  attributes(brief: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
    const definition: ResourceDefinition = brief.definition ?? KINDS.configMap
    return {
      operation: 'CREATE',
      definition,
      subresource: '',
      namespace: definition.namespaced ? 'default' : undefined,
      name: 'a',
      object: configMap(),
      oldObject: undefined,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      user: { name: 'jane', groups: ['devs'] },
      dryRun: false,
      ...brief,
    }
  }

  mutate(brief: Partial<AdmissionAttributes> = {}): Promise<KubeObject | undefined> {
    return this.admission.mutate(this.attributes(brief), (warning) => this.warnings.push(warning))
  }

  validate(brief: Partial<AdmissionAttributes> = {}): Promise<void> {
    return this.admission.validate(this.attributes(brief), (warning) => this.warnings.push(warning))
  }
}

interface HarnessOptions {
  readonly builtIn?: Admission
  readonly resolveService?: ResolveService
  readonly definitions?: readonly ResourceDefinition[]
}

export function configMap(data: JsonObject = { a: '1' }, labels?: Readonly<Record<string, string>>): KubeObject {
  const metadata = { name: 'a', namespace: 'default', ...(labels && { labels }) }
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as KubeObject
}

/** The error that a promise must reject with. */
export async function refusal(promise: Promise<unknown>): Promise<StatusError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('Expected the request to be refused, but it succeeded')
}
