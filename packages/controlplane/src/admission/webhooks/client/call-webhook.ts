import type { Clock } from '@tenure/kube'
import { asError, withTimeout } from '@tenure/kube'
import { goKind } from '../../../patch/go-format.ts'
import { JsonSyntaxError, parseJson } from '../../../registry/json-text.ts'
import { goQuote } from '../../../schema/go-text.ts'
import { isObject } from '../../../schema/json.ts'
import type { ServiceAddress, WebhookAnswer, WebhookCaller } from './caller.ts'
import { CallFailure } from '../errors.ts'
import type { ReviewRequest, Verdict } from '../review.ts'
import { InvalidResponse, readVerdict, reviewText, Unreadable } from '../review.ts'
import { serverMessage } from './server-message.ts'
import type { ServiceReference, Webhook } from '../webhook.ts'

/** Where a service is reached. Throws if it is not. */
export type ResolveService = (service: ServiceReference) => ServiceAddress | Promise<ServiceAddress>

export interface CallContext {
  readonly caller: WebhookCaller
  readonly resolveService: ResolveService
  readonly clock: Clock
}

/** Asks one webhook. Throws a CallFailure if there is no answer that makes sense. */
export async function callWebhook(
  context: CallContext,
  webhook: Webhook,
  request: ReviewRequest,
  isMutating: boolean,
): Promise<Verdict> {
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
  const answer = await post(
    context,
    webhook,
    target.url,
    certificateAuthority,
    reviewText(reviewVersion, request),
  ).catch((error: unknown) => fail(`failed to call webhook: Post ${goQuote(target.shown)}: ${asError(error).message}`))
  if (answer.status < 200 || answer.status > 206) return fail(`failed to call webhook: ${serverMessage(answer)}`)
  try {
    return readVerdict(reviewVersion, request.uid, isMutating, parse(answer))
  } catch (error) {
    if (error instanceof Unreadable) return fail(`failed to call webhook: ${error.message}`)
    if (error instanceof InvalidResponse) return fail(`received invalid webhook response: ${error.message}`)
    throw error
  }
}

async function post(
  { caller, resolveService, clock }: CallContext,
  { service, timeoutSeconds }: Webhook,
  url: URL,
  certificateAuthority: string | undefined,
  body: string,
): Promise<WebhookAnswer> {
  const { signal, dispose } = withTimeout(clock, timeoutSeconds * 1000, () => new Error('context deadline exceeded'))
  const tooLate = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(asError(signal.reason)), { once: true })
  })
  const exchange = async (): Promise<WebhookAnswer> => {
    const address = service && (await resolveService(service))
    return caller.post({ url, address, certificateAuthority, body, signal })
  }
  try {
    // A caller that does not heed the signal can not keep the request waiting either.
    return await Promise.race([exchange(), tooLate])
  } finally {
    dispose()
  }
}

interface Target {
  readonly url: URL
  /** As messages show it: Go, unlike URL, keeps the usual port of a service. */
  readonly shown: string
}

function targetOf({ url, service, timeoutSeconds }: Webhook): Target | undefined {
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port}${service.path || '/'}`
    : (url ?? '')
  const parsed = URL.parse(base)
  if (!parsed) return undefined
  parsed.search = `?timeout=${timeoutSeconds}s`
  const [, authority = parsed.host] = /^\w+:\/\/([^/?#]*)/.exec(base) ?? []
  return { url: parsed, shown: `${parsed.protocol}//${authority}${parsed.pathname}${parsed.search}` }
}

const INVALID_AUTHORITY = Symbol('no PEM')

function authorityOf(caBundle: string): string | typeof INVALID_AUTHORITY | undefined {
  if (caBundle === '') return undefined
  const text = Buffer.from(caBundle, 'base64').toString('utf8')
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text) ? text : INVALID_AUTHORITY
}

const ENVELOPE = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

/** The answer as an object. What is no JSON is read as YAML by the real server, to which plain words are a text. */
function parse({ status, contentType, body }: WebhookAnswer): Readonly<Record<string, unknown>> {
  if (body === '') {
    throw new Unreadable(`0-length response with status code: ${status} and content type: ${contentType}`)
  }
  let value: unknown = ''
  try {
    ;({ value } = parseJson(body))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
  }
  if (isObject(value)) return value
  const why = `json: cannot unmarshal ${goKind(value)} into Go value of type ${ENVELOPE}`
  throw new Unreadable(`couldn't get version/kind; json parse error: ${why}`)
}
