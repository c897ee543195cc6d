import type { Clock } from '@tenure/kube'
import { asError, withTimeout } from '@tenure/kube'
import { isJsonObject } from '@tenure/kube/model'
import { goKind } from '../../../patch/go-format.ts'
import { JsonSyntaxError, parseJson } from '../../../registry/decode/json-text.ts'
import { goQuote } from '../../../schema/go-text.ts'
import type { ServiceAddress, WebhookResponse, WebhookCaller } from './caller.ts'
import { CallFailure } from '../errors.ts'
import type { SentReviewRequest, WebhookReviewResponse } from '../review.ts'
import { InvalidResponse, readResponse, reviewText, UndecodableResponse } from '../review.ts'
import { serverMessage } from './server-message.ts'
import type { ServiceReference, StoredWebhookConfig } from '../webhook.ts'

/** Returns the address of a Service. Throws if the Service is unreachable. */
export type ResolveService = (service: ServiceReference) => ServiceAddress | Promise<ServiceAddress>

export interface WebhookCallContext {
  readonly caller: WebhookCaller
  readonly resolveService: ResolveService
  readonly clock: Clock
}

/** Calls one webhook. Throws a CallFailure if there is no valid response. */
export async function callWebhook(
  context: WebhookCallContext,
  webhook: StoredWebhookConfig,
  request: SentReviewRequest,
  isMutating: boolean,
): Promise<WebhookReviewResponse> {
  const { name, reviewVersion } = webhook
  const fail = (why: string): never => {
    throw new CallFailure(name, why)
  }
  if (!reviewVersion) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    return fail(`could not create admission objects: ${why}`)
  }
  const target =
    targetOf(webhook) ?? fail('could not get REST client: webhook configuration must have either service or URL')
  const certificateAuthority = authorityOf(webhook.caBundle)
  if (certificateAuthority === INVALID_AUTHORITY) {
    return fail('could not get REST client: unable to load root certificates: unable to parse bytes as PEM block')
  }
  const response = await post(
    context,
    webhook,
    target.url,
    certificateAuthority,
    reviewText(reviewVersion, request),
  ).catch((error: unknown) => fail(`failed to call webhook: Post ${goQuote(target.shown)}: ${asError(error).message}`))
  if (response.status < 200 || response.status > 206) return fail(`failed to call webhook: ${serverMessage(response)}`)
  try {
    return readResponse(reviewVersion, request.uid, isMutating, parse(response))
  } catch (error) {
    if (error instanceof UndecodableResponse) return fail(`failed to call webhook: ${error.message}`)
    if (error instanceof InvalidResponse) return fail(`received invalid webhook response: ${error.message}`)
    throw error
  }
}

async function post(
  { caller, resolveService, clock }: WebhookCallContext,
  { service, timeoutSeconds }: StoredWebhookConfig,
  url: URL,
  certificateAuthority: string | undefined,
  body: string,
): Promise<WebhookResponse> {
  const { signal, dispose } = withTimeout(clock, timeoutSeconds * 1000, () => new Error('context deadline exceeded'))
  const timeout = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(asError(signal.reason)), { once: true })
  })
  const call = async (): Promise<WebhookResponse> => {
    const address = service && (await resolveService(service))
    return caller.post({ url, address, certificateAuthority, body, signal })
  }
  try {
    // The race bounds callers that ignore the signal.
    return await Promise.race([call(), timeout])
  } finally {
    dispose()
  }
}

interface Target {
  readonly url: URL
  /** The URL in messages: unlike URL, Go keeps the default port. */
  readonly shown: string
}

function targetOf({ url, service, timeoutSeconds }: StoredWebhookConfig): Target | undefined {
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port}${service.path || '/'}`
    : (url ?? '')
  const parsed = URL.parse(base)
  if (!parsed) return undefined
  parsed.search = `?timeout=${timeoutSeconds}s`
  const [, authority = parsed.host] = /^\w+:\/\/([^/?#]*)/.exec(base) ?? []
  return { url: parsed, shown: `${parsed.protocol}//${authority}${parsed.pathname}${parsed.search}` }
}

const INVALID_AUTHORITY = Symbol('invalid PEM')

function authorityOf(caBundle: string): string | typeof INVALID_AUTHORITY | undefined {
  if (caBundle === '') return undefined
  const text = Buffer.from(caBundle, 'base64').toString('utf8')
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text) ? text : INVALID_AUTHORITY
}

const ENVELOPE = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

/** Parses the body as an object. kube-apiserver reads other text as YAML, where plain words are a string. */
function parse({ status, contentType, body }: WebhookResponse): Readonly<Record<string, unknown>> {
  if (body === '') {
    throw new UndecodableResponse(`0-length response with status code: ${status} and content type: ${contentType}`)
  }
  let value: unknown = ''
  try {
    ;({ value } = parseJson(body))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
  }
  if (isJsonObject(value)) return value
  const why = `json: cannot unmarshal ${goKind(value)} into Go value of type ${ENVELOPE}`
  throw new UndecodableResponse(`couldn't get version/kind; json parse error: ${why}`)
}
