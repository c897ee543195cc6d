import { X509Certificate } from 'node:crypto'
import { ApiError, asError, type Client, isNotFound, type Kind, type KubeObject, type Stored } from '@tenure/kube'
import { EndpointSlice, MutatingWebhookConfiguration, Secret, ValidatingWebhookConfiguration } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'
import { splitBundle } from '@tenure/runtime/certificates'
import { type Finding, Findings } from './finding.ts'
import type { InstalledOperator } from './installed.ts'

/** Milliseconds before the end of a certificate at which its renewal is overdue. */
const OVERDUE_MS = 86_400_000

interface WebhookEntry {
  readonly name: string
  readonly failurePolicy?: string
  readonly clientConfig: {
    readonly caBundle?: string
    readonly url?: string
    readonly service?: { readonly namespace: string; readonly name: string }
  }
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly WebhookEntry[]
}

const KINDS: readonly Kind<Configuration>[] = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]

/** Checks that the API server can call the operators' webhooks. */
export async function checkWebhooks(
  api: Client,
  installed: readonly InstalledOperator[],
  now: number,
): Promise<readonly Finding[]> {
  const found = new Findings('webhooks')
  for (const { name, operator } of installed) {
    for (const kind of KINDS) {
      const configuration = await readConfiguration(api, kind, name, found)
      if (!configuration) continue
      for (const entry of configuration.webhooks ?? [])
        await checkWebhook(api, entry, { operator: operator.name, secret: `${name}-webhook`, now }, found)
    }
  }
  if (found.all.length === 0) found.note('No webhooks are registered.')
  return found.all
}

async function readConfiguration(
  api: Client,
  kind: Kind<Configuration>,
  name: string,
  found: Findings,
): Promise<Stored<Configuration> | undefined> {
  try {
    return await api.get(kind, { name })
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    found.note(`You may not read the ${kind.kind} ${name}.`)
    return undefined
  }
}

async function checkWebhook(
  api: Client,
  entry: WebhookEntry,
  { now, operator, secret }: { readonly operator: string; readonly secret: string; readonly now: number },
  found: Findings,
): Promise<void> {
  const { clientConfig, failurePolicy = 'Fail', name } = entry
  const effect = failurePolicy === 'Fail' ? 'writes that it checks are refused' : 'its checks are left out'
  const restart = `Restart the operator ${operator}: it writes its certificates and its configuration again.`
  const authorities = authoritiesOf(clientConfig.caBundle)
  if (typeof authorities === 'string') return found.problem(`${name}: ${authorities}, so ${effect}.`, restart)
  const validUntil = Math.max(...authorities.map(({ validToDate }) => validToDate.getTime()))
  if (authorities.length > 0 && validUntil <= now)
    return found.problem(`${name}: its CA bundle expired at ${rfc3339(validUntil)}, so ${effect}.`, restart)
  if (!clientConfig.service) return found.ok(`${name} is registered at ${clientConfig.url ?? ''}.`)
  const { name: service, namespace } = clientConfig.service
  const fault = await servingFault(api, { namespace, name: secret }, authorities, now)
  if (fault !== undefined) return found.problem(`${name}: ${fault}, so ${effect}.`, restart)
  const ready = await readyEndpoints(api, namespace, service)
  if (ready === 0) {
    return found.problem(
      `${name}: the Service ${namespace}/${service} has no ready endpoint, so ${effect}.`,
      `Is the operator running? kubectl get pods,endpointslices -n ${namespace}. If it was removed, remove its configuration too.`,
    )
  }
  if (ready === undefined) found.note(`${name}: you may not read the endpoints of the Service ${namespace}/${service}.`)
  else found.ok(`${name} is served by ${ready} endpoint${ready === 1 ? '' : 's'} of ${namespace}/${service}.`)
}

/** The authorities that the API server trusts, or why there are none. Empty: those of its machine. */
function authoritiesOf(caBundle: string | undefined): readonly X509Certificate[] | string {
  if (caBundle === undefined || caBundle === '') return []
  try {
    const certificates = splitBundle(Buffer.from(caBundle, 'base64').toString()).map((pem) => new X509Certificate(pem))
    return certificates.length > 0 ? certificates : 'its CA bundle has no certificate'
  } catch (error) {
    return `its CA bundle is damaged (${asError(error).message})`
  }
}

/** The fault of the certificate that the replicas share; undefined also if it cannot be read. */
async function servingFault(
  api: Client,
  ref: { readonly namespace: string; readonly name: string },
  authorities: readonly X509Certificate[],
  now: number,
): Promise<string | undefined> {
  const secret = await api.get(Secret, ref).catch(ignoreUnreadable)
  const text = secret?.data?.['tls.crt']
  if (text === undefined) return undefined
  try {
    const serving = new X509Certificate(Buffer.from(text, 'base64'))
    const end = serving.validToDate.getTime()
    if (end <= now) return `its certificate expired at ${rfc3339(end)}`
    if (end - now < OVERDUE_MS) return `its certificate ends at ${rfc3339(end)} and was not renewed`
    if (serving.validFromDate.getTime() > now) return 'its certificate is not valid yet: compare the clocks'
    const isTrusted = authorities.some(
      (authority) => serving.checkIssued(authority) && serving.verify(authority.publicKey),
    )
    return isTrusted || authorities.length === 0 ? undefined : 'its CA bundle does not belong to its certificate'
  } catch (error) {
    return `its certificate in the Secret ${ref.namespace}/${ref.name} is damaged (${asError(error).message})`
  }
}

/** Undefined if they cannot be read. */
async function readyEndpoints(api: Client, namespace: string, service: string): Promise<number | undefined> {
  const selection = { namespace, labelSelector: `kubernetes.io/service-name=${service}` }
  const slices = await api.list(EndpointSlice, selection).catch(ignoreUnreadable)
  return slices?.items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false).length
}

function ignoreUnreadable(error: unknown): undefined {
  if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return undefined
  throw error
}
