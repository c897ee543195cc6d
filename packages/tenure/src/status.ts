import type { ConnectionConfig } from '@tenure/kube'
import {
  Client,
  HttpTransport,
  asError,
  explainStartupFailure,
  loadConfig,
  systemClock,
  withTimeout,
} from '@tenure/kube'

type Environment = Readonly<Record<string, string | undefined>>

/** What `tenure start` prints: what exists, and whether a cluster answers. */
export async function status(version: string, env: Environment): Promise<string> {
  return `Tenure ${version}

Here now   @tenure/kube     a Kubernetes client
           @tenure/runtime  a controller runtime: an operator in 40 lines, docs/guides/first-operator.md
To try it  npm run cluster -- up   builds and starts a real Kubernetes on this machine

Cluster    ${await cluster(env)}
`
}

async function cluster(env: Environment): Promise<string> {
  let config: ConnectionConfig
  try {
    config = await loadConfig({ env })
  } catch (error) {
    return asError(error).message
  }
  const transport = new HttpTransport(config, { connectTimeout: 3_000 })
  const limit = withTimeout(systemClock, 5_000, () => new Error(`${config.server} did not answer within 5 seconds`))
  try {
    const { requester } = new Client({ transport, retry: { attempts: 1 } })
    const { value } = await requester.json({
      verb: 'raw',
      method: 'GET',
      path: '/version',
      idempotent: true,
      signal: limit.signal,
    })
    return `${config.server} answers: Kubernetes ${(value as { gitVersion?: string }).gitVersion ?? 'of unknown version'}`
  } catch (error) {
    return explainStartupFailure(error, config)
  } finally {
    limit.dispose()
    await transport.close()
  }
}
