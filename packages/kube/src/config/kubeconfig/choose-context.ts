import { asError } from '../../errors/errors.ts'
import { kubeconfigError } from './kubeconfig-error.ts'
import { SecretValue } from '../secret-value.ts'
import type { ConnectionConfig, CredentialConfig, ExecCluster, Impersonation, PemSource } from '../connection-config.ts'
import type { Files } from '../files.ts'
import type { ClusterEntry, Kubeconfig, UserEntry } from './kubeconfig-file.ts'
import { parseProxyUrl } from '../proxy-url.ts'

export interface ContextChoice {
  readonly files: Files
  /** The environment of exec plugins. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Default: the kubeconfig's current-context. */
  readonly context?: string | undefined
  /** The paths of the kubeconfigs, for messages. */
  readonly paths: readonly string[]
}

/** The connection of a context of a kubeconfig. All files that it refers to must exist. */
export async function chooseContext(config: Kubeconfig, choice: ContextChoice): Promise<ConnectionConfig> {
  const paths = choice.paths.join(', ')
  const name = choice.context ?? config.currentContext
  if (name === undefined) {
    throw kubeconfigError(
      'CONTEXT',
      `No context is chosen in ${paths}: run "kubectl config use-context <name>" or name a context${known(config)}.`,
    )
  }
  const context = config.contexts.get(name)
  if (!context) {
    throw kubeconfigError(
      'CONTEXT',
      `The context "${name}" is not in ${paths}: choose a context that is${known(config)}.`,
    )
  }
  const origin = `context "${name}" of ${context.file}`
  const cluster = context.cluster === undefined ? undefined : config.clusters.get(context.cluster)
  if (!cluster) {
    const what =
      context.cluster === undefined
        ? 'names no cluster'
        : `names the cluster "${context.cluster}", which is not in ${paths}`
    throw kubeconfigError(
      'CLUSTER',
      `The ${origin} ${what}: add the cluster with "kubectl config set-cluster" or choose another context.`,
    )
  }
  const user = context.user === undefined ? undefined : config.users.get(context.user)
  if (context.user !== undefined && !user) {
    throw kubeconfigError(
      'USER',
      `The ${origin} names the user "${context.user}", which is not in ${paths}: add the user with "kubectl config set-credentials" or choose another context.`,
    )
  }
  const server = serverUrl(cluster, context.cluster ?? '')
  const proxyUrl =
    cluster.proxyUrl === undefined
      ? undefined
      : new SecretValue(parseProxyUrl(cluster.proxyUrl, `The kubeconfig ${cluster.file}`))
  const tls = tlsOf(cluster, user, context.user ?? '')
  const execCluster: ExecCluster = {
    server,
    tlsServerName: cluster.tlsServerName,
    insecure: cluster.insecure,
    ca: cluster.ca,
    proxyUrl,
    disableCompression: cluster.disableCompression,
    config: cluster.execConfig,
  }
  const credential = user
    ? credentialOf(user, context.user ?? '', execCluster, choice.env)
    : ({ kind: 'none' } as const)
  await checkFiles(choice.files, origin, [
    ['certificate authority', tls.ca],
    ['client certificate', tls.certificate?.cert],
    ['client key', tls.certificate?.key],
    ['token', credential.kind === 'token-file' && !credential.fallback ? { file: credential.path } : undefined],
  ])
  return {
    server,
    tls,
    credential,
    impersonate: user && impersonationOf(user, context.user ?? ''),
    proxyUrl,
    namespace: context.namespace ?? 'default',
    origin,
    context: name,
  }
}

function known(config: Kubeconfig): string {
  const names = [...config.contexts.keys()]
  return names.length === 0 ? ' (there is none yet)' : ` (there is ${names.join(', ')})`
}

function serverUrl(cluster: ClusterEntry, name: string): string {
  const given = cluster.server
  if (given === undefined) throw invalid(cluster.file, `cluster "${name}" has no server`)
  const withScheme = /^[a-z]+:\/\//i.test(given)
    ? given
    : `${cluster.ca || cluster.insecure ? 'https' : 'http'}://${given}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.search !== '' || url.hash !== '') {
    throw invalid(cluster.file, `the server of cluster "${name}" is "${given}", which is not an http or https address`)
  }
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, '')
}

function tlsOf(cluster: ClusterEntry, user: UserEntry | undefined, userName: string): ConnectionConfig['tls'] {
  if (cluster.insecure && cluster.ca) {
    throw invalid(cluster.file, 'a cluster has both a certificate-authority and insecure-skip-tls-verify; remove one')
  }
  const { cert, key } = user ?? {}
  if (user && (cert === undefined) !== (key === undefined)) {
    throw invalid(
      user.file,
      `user "${userName}" has a client ${cert ? 'certificate but no key' : 'key but no certificate'}`,
    )
  }
  return {
    ca: cluster.ca,
    certificate: cert && key ? { cert, key } : undefined,
    serverName: cluster.tlsServerName,
    insecure: cluster.insecure,
  }
}

function credentialOf(
  user: UserEntry,
  name: string,
  cluster: ExecCluster,
  env: Readonly<Record<string, string | undefined>>,
): CredentialConfig {
  const { token, tokenFile, username, password } = user
  if (user.authProvider !== undefined) {
    throw kubeconfigError(
      'AUTH_PROVIDER',
      `User "${name}" of ${user.file} uses the auth-provider "${user.authProvider}", which Kubernetes removed: replace the entry with the exec plugin of your cloud or identity provider.`,
    )
  }
  const exec = user.exec()
  const hasToken = token !== undefined || tokenFile !== undefined
  const hasBasic = username !== undefined || password !== undefined
  if (hasToken && hasBasic) throw invalid(user.file, `user "${name}" has both a token and a password; remove one`)
  // A token has precedence over a plugin, as in kubectl.
  if (tokenFile !== undefined) {
    return { kind: 'token-file', path: tokenFile, fallback: token === undefined ? undefined : new SecretValue(token) }
  }
  if (token !== undefined) return { kind: 'token', token: new SecretValue(token) }
  if (hasBasic) return { kind: 'basic', username: username ?? '', password: new SecretValue(password ?? '') }
  if (!exec) return { kind: 'none' }
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    kind: 'exec',
    exec: {
      apiVersion: exec.apiVersion,
      command: exec.command,
      args: exec.args,
      env: new SecretValue({ ...Object.fromEntries(inherited), ...exec.env }),
      interactiveMode: exec.interactiveMode,
      installHint: exec.installHint,
      cluster: exec.provideClusterInfo ? cluster : undefined,
    },
  }
}

function impersonationOf(user: UserEntry, name: string): Impersonation | undefined {
  const { as, asUid, asGroups, asExtra } = user
  if (as !== undefined) return { user: as, uid: asUid, groups: asGroups, extra: asExtra }
  if (asUid !== undefined || asGroups.length > 0 || asExtra !== undefined) {
    throw invalid(user.file, `user "${name}" sets as-uid, as-groups or as-user-extra without "as"`)
  }
  return undefined
}

async function checkFiles(
  files: Files,
  origin: string,
  sources: readonly (readonly [what: string, source: PemSource | undefined])[],
): Promise<void> {
  for (const [what, source] of sources) {
    if (!source || !('file' in source)) continue
    try {
      await files.stamp(source.file)
    } catch (error) {
      throw kubeconfigError(
        'FILE',
        `The ${what} file ${source.file} of ${origin} cannot be read (${asError(error).message}): restore the file or correct its path in the kubeconfig.`,
        error,
      )
    }
  }
}

function invalid(file: string, what: string): Error {
  return kubeconfigError('INVALID', `The kubeconfig ${file} cannot be used: ${what}.`)
}
