import type { Clock, Random, TransportRequest } from '@tenure/kube'
import { systemClock, systemRandom } from '@tenure/kube'
import type { Logger, Metrics } from '@tenure/runtime'
import { noMetrics, silentLogger } from '@tenure/runtime'
import { createAdmission } from './admission/index.ts'
import { admissionChain } from './admission/admission-chain.ts'
import { LimitRanges } from './admission/quota/limit-ranges.ts'
import { QuotaUsage } from './admission/quota/quota-usage.ts'
import { startQuotaController } from './admission/quota/quota-controller.ts'
import { ResourceQuotas } from './admission/quota/resource-quotas.ts'
import { RoleEscalation } from './admission/rbac/role-escalation.ts'
import { fieldManagement } from './apply/index.ts'
import { builtInControllers, startControllers } from './controllers/index.ts'
import type { BuiltInControllersOptions } from './controllers/index.ts'
import { CrdCatalog } from './crd/catalog.ts'
import { CrdReconciler } from './crd/reconcile.ts'
import { BuiltInAdmission } from './admission/plugins/built-in-admission.ts'
import { builtInCatalog } from './kinds/catalog.ts'
import { ServiceAddresses } from './kinds/core/service/service-addresses.ts'
import { patches } from './patch/index.ts'
import { GenericRegistry } from './registry/registry.ts'
import type { User } from './registry/types.ts'
import { process as processSchema } from './schema/validation/process.ts'
import { ApiServer } from './server/api-server.ts'
import { ADMIN, Authenticator } from './server/auth/authentication.ts'
import { Authorizer } from './server/auth/authorization.ts'
import { bootstrap } from './server/bootstrap.ts'
import type { HttpsLimits } from './server/http/https-limits.ts'
import { kubeconfigFor, loadCredentials } from './server/auth/credentials.ts'
import type { Credentials } from './server/auth/credentials.ts'
import { expireEvents } from './server/event-expiry.ts'
import { InProcessTransport } from './server/in-process-transport.ts'
import type { Fault } from './server/in-process-transport.ts'
import { ServiceAccountTokens } from './server/auth/service-account-tokens.ts'
import { openStorage } from './storage/index.ts'
import type { Storage } from './storage/index.ts'

export interface ControlPlaneOptions {
  /** Directory of state and keys. Default: in memory only, lost with the process. */
  readonly directory?: string | undefined
  /** Port of the HTTPS server; 0 takes any free port, `false` serves in process only. Default 0. */
  readonly port?: number | false | undefined
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string | undefined
  /** Limits for clients over HTTPS. Default: see HttpsLimits. */
  readonly limits?: Partial<HttpsLimits> | undefined
  /** Requests over HTTPS wait for this, so that what must decide about them can start first. Default: nothing. */
  readonly admitted?: Promise<void> | undefined
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Default: the system's randomness. */
  readonly random?: Random | undefined
  /** Default: silent. */
  readonly log?: Logger | undefined
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined
  /**
   * Whether the built-in controllers run: rollouts, garbage collection and so on. Without them no namespace gets a service
   * account, so pods need none. Default true.
   */
  readonly controllers?: boolean | undefined
  /** The simulated nodes that make pods ready; `false`: none, and pods stay pending. Default: one node. */
  readonly nodes?: BuiltInControllersOptions['nodes'] | undefined
}

/** A running Kubernetes API. */
export interface ControlPlane {
  /** `https://127.0.0.1:6443`; undefined if it serves in process only. */
  readonly url: string | undefined
  /** The administrator's kubeconfig. Undefined if it serves in process only. */
  readonly kubeconfig: string | undefined
  /** The administrator's bearer token. */
  readonly token: string
  /** Requests in process, as the administrator. */
  readonly transport: InProcessTransport
  readonly storage: Storage
  /** Requests in process, as another user or with faults. */
  transportFor(options: {
    readonly user?: User
    readonly faults?: (request: TransportRequest) => Fault | undefined
  }): InProcessTransport
  /** Stops everything. Acknowledged writes are on disk. */
  stop(): Promise<void>
}

/** Parts that the test fixture provides. Default of each: made from the options. */
export interface ControlPlaneParts {
  readonly storage?: Storage
  readonly credentials?: Credentials
  /** The fixture makes the service account of each namespace. Default: only the built-in controllers do. */
  readonly makesServiceAccounts?: boolean
}

/** A control plane, and the parts that the test fixture uses directly. */
export interface AssembledControlPlane {
  readonly plane: ControlPlane
  readonly catalog: CrdCatalog
  readonly definitions: CrdReconciler
}

/** Starts a control plane, which serves in process and over HTTPS. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return (await assembleControlPlane(options)).plane
}

export async function assembleControlPlane(
  options: ControlPlaneOptions,
  parts: ControlPlaneParts = {},
): Promise<AssembledControlPlane> {
  // Parts stop in reverse order, also when a later part fails to start.
  const started: (() => unknown)[] = []
  const stop = async (): Promise<void> => {
    for (let end = started.pop(); end; end = started.pop()) await end()
  }
  try {
    return await start(options, parts, started, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  options: ControlPlaneOptions,
  parts: ControlPlaneParts,
  started: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<AssembledControlPlane> {
  const { directory, port = 0, host = '127.0.0.1', clock = systemClock, random = systemRandom } = options
  const { log = silentLogger, metrics = noMetrics } = options
  const storage = parts.storage ?? (await openStorage({ directory, clock, log }))
  started.push(() => storage.close())
  const credentials = parts.credentials ?? loadCredentials(directory, [host], clock, random)

  const addresses = new ServiceAddresses({ random, clock })
  const catalog = new CrdCatalog(builtInCatalog({ addresses }))
  const definitions = new CrdReconciler({
    storage,
    clock,
    onError: (error) => log.error('CustomResourceDefinition reconcile failed', { error }),
  })
  started.push(addresses.follow(storage), catalog.follow(storage), definitions.start())
  const authorizer = new Authorizer(storage)
  const hasControllers = options.controllers !== false
  const requiresAccounts = hasControllers || parts.makesServiceAccounts === true
  const builtIn = admissionChain(
    new BuiltInAdmission({ storage, random, clock, taintsNodes: hasControllers, requiresAccounts }),
    new LimitRanges(storage),
    new RoleEscalation(storage, authorizer),
  )
  const quotaUsage = new QuotaUsage(storage, clock)
  const last = new ResourceQuotas(storage, clock, quotaUsage)
  const authorize: Authorizer['authorize'] = (question) => authorizer.authorize(question)
  const admission = createAdmission({ storage, catalog, clock, random, log, builtIn, last, authorize })
  started.push(() => admission.close(), expireEvents(storage, clock, log))
  const registry = new GenericRegistry({
    storage,
    catalog,
    process: processSchema,
    patches,
    fields: fieldManagement,
    admission,
    clock,
    random,
  })
  const accounts = new ServiceAccountTokens(credentials.authority.key, storage, clock, random)
  const authenticator = new Authenticator(new Map([[credentials.token, ADMIN]]), accounts)
  const server = new ApiServer({ storage, catalog, registry, authenticator, authorizer, accounts, clock, random, log })
  const stopping = new AbortController()
  started.push(() => stopping.abort())
  await bootstrap(registry, catalog, stopping.signal)

  const transportFor: ControlPlane['transportFor'] = ({ user = ADMIN, faults }) => {
    const transport = new InProcessTransport({ server, user, clock, faults })
    started.push(() => transport.close())
    return transport
  }
  const transport = transportFor({})
  const url = port === false ? undefined : await serve(port, host)
  if (hasControllers) {
    started.push(startQuotaController({ storage, clock, log, usage: quotaUsage }))
    const { certificate: certificateAuthority } = credentials.authority
    const nodes = options.nodes === undefined ? {} : { nodes: options.nodes }
    const controllers = builtInControllers({ certificateAuthority, ...nodes })
    const own = transportFor({})
    const running = await startControllers({ transport: own, controllers, clock, random, log, metrics })
    started.push(() => running.stop())
  }
  const plane: ControlPlane = {
    url,
    kubeconfig: url === undefined ? undefined : kubeconfigFor(url, credentials),
    token: credentials.token,
    transport,
    storage,
    transportFor,
    stop,
  }
  return { plane, catalog, definitions }

  async function serve(at: number, address: string): Promise<string> {
    // Loaded on demand: most tests serve in process only.
    const { HttpsAdapter } = await import('./server/http/https-adapter.ts')
    const { certificate, key } = credentials.server
    const clientAuthority = credentials.authority.certificate
    const { limits } = options
    const { admitted } = options
    const gated: Pick<ApiServer, 'handle'> = admitted
      ? { handle: (request) => admitted.then(() => server.handle(request)) }
      : server
    const parts = { server: gated, authenticator, certificate, key, clientAuthority, clock, random, log, limits }
    const https = new HttpsAdapter(parts)
    const bound = await https.listen(at, address)
    started.push(() => https.close())
    return `https://${address.includes(':') ? `[${address}]` : address}:${bound}`
  }
}
