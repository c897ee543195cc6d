import { dirname, isAbsolute, resolve, sep } from 'node:path'
import { KubeconfigFields } from './kubeconfig-fields.ts'
import { kubeconfigError } from './kubeconfig-error.ts'
import type { ExecConfig, InteractiveMode, PemSource } from '../connection-config.ts'

/** A `clusters` entry with absolute paths. */
export interface ClusterEntry {
  readonly file: string
  readonly server: string | undefined
  readonly tlsServerName: string | undefined
  readonly insecure: boolean
  readonly ca: PemSource | undefined
  readonly proxyUrl: string | undefined
  readonly disableCompression: boolean
  /** The extension for exec plugins. */
  readonly execConfig: unknown
}

export interface ExecEntry {
  readonly apiVersion: ExecConfig['apiVersion']
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly interactiveMode: InteractiveMode
  readonly installHint: string | undefined
  readonly provideClusterInfo: boolean
}

/** A `users` entry with absolute paths. */
export interface UserEntry {
  readonly file: string
  readonly cert: PemSource | undefined
  readonly key: PemSource | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly as: string | undefined
  readonly asUid: string | undefined
  readonly asGroups: readonly string[]
  readonly asExtra: Readonly<Record<string, readonly string[]>> | undefined
  /** The name of a legacy `auth-provider`. */
  readonly authProvider: string | undefined
  /** Read only for the selected user, so that a broken plugin of another user causes no error. */
  exec(): ExecEntry | undefined
}

export interface ContextEntry {
  readonly file: string
  readonly cluster: string | undefined
  readonly user: string | undefined
  readonly namespace: string | undefined
}

export interface Kubeconfig {
  readonly currentContext: string | undefined
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
}

/** Parses one kubeconfig. `file` is its absolute path, the base of relative paths in it. */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  const top = new KubeconfigFields(await parseYaml(text, file), file, '')
  const kind = top.text('kind')
  if (kind !== undefined && kind !== 'Config') {
    throw kubeconfigError(
      'INVALID',
      `${file} is a ${kind}, not a kubeconfig: point KUBECONFIG at a file of kind Config.`,
    )
  }
  return {
    currentContext: top.text('current-context'),
    clusters: entries(top, 'clusters', 'cluster', clusterEntry),
    users: entries(top, 'users', 'user', userEntry),
    contexts: entries(top, 'contexts', 'context', contextEntry),
  }
}

async function parseYaml(text: string, file: string): Promise<unknown> {
  const json = parseJson(text)
  if (json !== undefined) return json
  // Loaded on demand: a pod with a service account does not need it.
  const { readYaml, YamlError } = await import('@tenure/yaml')
  try {
    return readYaml(text).value ?? undefined
  } catch (error) {
    // The original error is not attached: its message may quote the file, which may contain a token.
    const { problem, line } =
      error instanceof YamlError ? error : { problem: 'a value cannot be read', line: undefined }
    const place = line === undefined ? '' : ` at line ${line}`
    throw kubeconfigError(
      'YAML',
      `The kubeconfig ${file} is not valid YAML (${problem}${place}): correct it or point KUBECONFIG at another file.`,
      new Error(problem),
    )
  }
}

/** Parses a JSON file without loading the YAML parser. Undefined if it is not JSON. */
function parseJson(text: string): unknown {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function entries<T>(
  top: KubeconfigFields,
  list: string,
  inner: string,
  read: (fields: KubeconfigFields) => T,
): Map<string, T> {
  const found = new Map<string, T>()
  for (const item of top.list(list)) {
    const name = item.required('name')
    if (found.has(name)) {
      throw kubeconfigError(
        'INVALID',
        `The kubeconfig ${top.file} has two ${list} named "${name}": remove or rename one.`,
      )
    }
    found.set(name, read(item.fields(inner)))
  }
  return found
}

function clusterEntry(fields: KubeconfigFields): ClusterEntry {
  const extension = fields.list('extensions').find((item) => item.text('name') === 'client.authentication.k8s.io/exec')
  return {
    file: fields.file,
    server: fields.text('server'),
    tlsServerName: fields.text('tls-server-name'),
    insecure: fields.flag('insecure-skip-tls-verify'),
    ca: fields.pem('certificate-authority', beside(fields.file)),
    proxyUrl: fields.text('proxy-url'),
    disableCompression: fields.flag('disable-compression'),
    execConfig: extension?.raw('extension'),
  }
}

function userEntry(fields: KubeconfigFields): UserEntry {
  const tokenFile = fields.text('tokenFile')
  return {
    file: fields.file,
    cert: fields.pem('client-certificate', beside(fields.file)),
    key: fields.pem('client-key', beside(fields.file)),
    token: fields.text('token'),
    tokenFile: tokenFile === undefined ? undefined : beside(fields.file)(tokenFile),
    username: fields.text('username'),
    password: fields.text('password'),
    as: fields.text('as'),
    asUid: fields.text('as-uid'),
    asGroups: fields.texts('as-groups'),
    asExtra: fields.textLists('as-user-extra'),
    authProvider: fields.has('auth-provider') ? (fields.fields('auth-provider').text('name') ?? 'unnamed') : undefined,
    exec: () => (fields.has('exec') ? execEntry(fields.fields('exec')) : undefined),
  }
}

function contextEntry(fields: KubeconfigFields): ContextEntry {
  return {
    file: fields.file,
    cluster: fields.text('cluster'),
    user: fields.text('user'),
    namespace: fields.text('namespace'),
  }
}

function execEntry(fields: KubeconfigFields): ExecEntry {
  const apiVersion = fields.required('apiVersion')
  if (apiVersion !== 'client.authentication.k8s.io/v1' && apiVersion !== 'client.authentication.k8s.io/v1beta1') {
    throw kubeconfigError(
      'INVALID',
      `The kubeconfig ${fields.file} cannot be used: ${fields.place}.apiVersion is ${apiVersion}, but a plugin must support client.authentication.k8s.io/v1 or v1beta1: update the plugin and its entry.`,
    )
  }
  const command = fields.required('command')
  return {
    apiVersion,
    // A bare name is searched in PATH; a path is relative to the kubeconfig.
    command: command.includes('/') || command.includes(sep) ? beside(fields.file)(command) : command,
    args: fields.texts('args'),
    env: Object.fromEntries(fields.list('env').map((item) => [item.required('name'), item.text('value') ?? ''])),
    interactiveMode: interactiveMode(fields, apiVersion),
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.flag('provideClusterInfo'),
  }
}

function interactiveMode(fields: KubeconfigFields, apiVersion: ExecConfig['apiVersion']): InteractiveMode {
  // v1beta1 is older than the field and has a default; v1 requires it.
  const mode = apiVersion.endsWith('/v1') ? fields.required('interactiveMode') : fields.text('interactiveMode')
  if (mode === undefined) return 'IfAvailable'
  if (mode === 'Never' || mode === 'IfAvailable' || mode === 'Always') return mode
  throw kubeconfigError(
    'INVALID',
    `The kubeconfig ${fields.file} cannot be used: ${fields.place}.interactiveMode must be Never, IfAvailable or Always.`,
  )
}

function beside(file: string): (path: string) => string {
  return (path) => (isAbsolute(path) ? path : resolve(dirname(file), path))
}
