import path from 'node:path'
import {
  Client,
  type ConnectionConfig,
  HttpTransport,
  loadConfig,
  RestMapper,
  systemClock,
  systemRandom,
} from '@tenure/kube'
import { leaseFamilies, NEWER_FAMILY, SEED_FAMILY } from '@tenure/leases/cli'
import { terminalOf } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from './context.ts'

type Environment = ClusterContext['environment']

/** Attempts of a request: a person waits. */
const RETRY = { attempts: 2 }

/** Runs a command with a connection to the cluster of the options, of the kubeconfig, or of `npm start`. */
export async function withCluster<R>(
  { context, kubeconfig }: ClusterOptions,
  work: (context: ClusterContext) => Promise<R>,
): Promise<R> {
  const { env: environment } = process
  const warnings: string[] = []
  const warn = (text: string): void => {
    warnings.push(text)
    process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  const config = await loadConfig({ kubeconfigPath: kubeconfig, context, env: environment, onLocal: warn })
  const transport = new HttpTransport(config, { userAgent: 'tenure' })
  // A reader that has seen enough closes the pipe.
  process.stdout.on('error', () => process.exit(0))
  try {
    const api = new Client({ transport, fieldManager: 'tenure', retry: RETRY })
    return await work({
      api,
      kinds: new RestMapper(api.requester),
      config,
      clock: systemClock,
      random: systemRandom,
      environment,
      terminal: terminalOf(process.stdout, environment),
      signal: new AbortController().signal,
      families: familiesOf(environment),
      isLocal: await isLocalCluster(config, environment),
      write: (text) => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
      warn,
      warnings,
    })
  } finally {
    await transport.close()
  }
}

/** An empty variable counts as unset, as for the controllers. */
function familiesOf({ LEASE_NEWER_PREFIX, LEASE_PREFIX }: Environment): ClusterContext['families'] {
  return leaseFamilies({
    prefix: LEASE_PREFIX || SEED_FAMILY.prefix,
    newerPrefix: LEASE_NEWER_PREFIX || NEWER_FAMILY.prefix,
  })
}

/** Whether a configuration leads to the API server of `npm start` in the working directory. */
export async function isLocalCluster({ server }: Pick<ConnectionConfig, 'server'>, env: Environment): Promise<boolean> {
  const { TENURE_DATA: data } = env
  const kubeconfigPath = path.resolve(data || '.tenure', 'kubeconfig')
  return await loadConfig({ kubeconfigPath, env, inCluster: false }).then(
    (local) => local.server === server,
    () => false,
  )
}
