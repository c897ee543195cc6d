import {
  type Engine,
  type EngineLayout,
  type EngineName,
  isAlpine,
  probesOf,
  secretEnv,
  versionNumbers,
} from './engine.ts'
import type { SettingsFormat, SettingValue } from './settings.ts'

const PORT = 6379
const DATA = '/data'
const SETTINGS_PATH = '/etc/nest/redis.conf'
const SECRET_PATH = '/etc/nest-auth/auth.conf'

/** Share of the container's memory for data; copies on write and buffers of clients need the rest. */
const DATA_MEMORY_SHARE = 0.75

const OWNED = 'the operator sets it'
const RUNS_CODE = 'it loads code or opens the server for it'
const LOSES_DATA = 'the server would not find its data'

const REFUSED: ReadonlyMap<string, string> = new Map([
  ...[
    'port',
    'tls-port',
    'bind',
    'bind-source-addr',
    'unixsocket',
    'unixsocketperm',
    'protected-mode',
    'requirepass',
    'masterauth',
    'masteruser',
    'primaryauth',
    'primaryuser',
    'user',
    'aclfile',
    'replicaof',
    'slaveof',
    'include',
    'daemonize',
    'supervised',
    'pidfile',
    'logfile',
    'rename-command',
    'cluster-enabled',
    'cluster-config-file',
  ].map((name) => [name, OWNED] as const),
  ...['loadmodule', 'enable-debug-command', 'enable-module-command', 'enable-protected-configs', 'sentinel'].map(
    (name) => [name, RUNS_CODE] as const,
  ),
  ...['dir', 'dbfilename', 'appendfilename', 'appenddirname', 'tls-cert-file', 'tls-key-file'].map(
    (name) => [name, LOSES_DATA] as const,
  ),
])

/** Directives with several arguments; a text is split at its blanks. */
const WITH_ARGUMENTS: ReadonlySet<string> = new Set(['save', 'client-output-buffer-limit', 'oom-score-adj-values'])

export const redisFormat: SettingsFormat = {
  name: /^[a-z][a-z0-9-]*$/i,
  normalize: (name) => name.toLowerCase(),
  refusal: (name) => (name.startsWith('sentinel') ? RUNS_CODE : REFUSED.get(name)),
  line(name, value) {
    const parts = WITH_ARGUMENTS.has(name) && typeof value === 'string' ? value.split(/ +/).filter(Boolean) : [value]
    return `${name} ${(parts.length === 0 ? [''] : parts).map(quoted).join(' ')}`
  },
}

/** In double quotes a backslash escapes. */
function quoted(value: SettingValue): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return `"${String(value)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)}"`
}

/** Pod 0 is the primary; the others copy it. The script is constant: its parameters are environment variables. */
const startScript = (server: string): string =>
  [
    'case "$POD_NAME" in',
    `*-0) exec ${server} ${SETTINGS_PATH} ;;`,
    `*) exec ${server} ${SETTINGS_PATH} --replicaof "$PRIMARY_HOST" ${PORT} ;;`,
    'esac',
  ].join('\n')

interface Flavor {
  readonly name: EngineName
  readonly title: string
  readonly repository: string
  readonly majors: readonly string[]
  readonly defaultMajor: string
}

function redisLike({ name, title, repository, majors, defaultMajor }: Flavor): Engine {
  const layouts: ReadonlyMap<string, EngineLayout> = new Map(
    majors.map((major) => [major, { image: `${repository}:${major}-alpine`, mountPath: DATA, dataDirectory: DATA }]),
  )
  // With -e an error reply is a failure, such as that of a server that loads its data. Without it any reply will do: to
  // restart such a server would only begin the loading again. Both clients read the password from REDISCLI_AUTH.
  const ping = (...flags: readonly string[]) => [`${name}-cli`, ...flags, '-h', '127.0.0.1', '-p', String(PORT), 'ping']
  return {
    name,
    title,
    port: PORT,
    portName: name,
    repository,
    layouts,
    defaultMajor,
    isReplicated: true,
    isBoundToVariant: false,
    format: redisFormat,
    defaultMemoryLimit: '512Mi',
    terminationGracePeriodSeconds: 60,
    passwordKeys: ['password'],
    uriScheme: 'redis',
    jdbcScheme: undefined,
    majorOf: (version) => versionNumbers(version)[0],
    imageFor: (version) => `${repository}:${version}-alpine`,
    // Alpine has a group 999 of its own.
    userOf: (image) => (isAlpine(image) ? { uid: 999, gid: 1000 } : { uid: 999, gid: 999 }),
    settingsFile: { name: 'redis.conf', path: SETTINGS_PATH },
    renderSettings: ({ layout, settings, memoryLimit }) =>
      [
        'bind * -::*',
        `port ${PORT}`,
        `dir ${layout.dataDirectory}`,
        ...(settings.has('appendonly') ? [] : ['appendonly yes']),
        ...(settings.has('maxmemory') ? [] : [`maxmemory ${Math.floor(memoryLimit * DATA_MEMORY_SHARE)}`]),
        ...[...settings].map(([name, value]) => redisFormat.line(name, value)),
        `include ${SECRET_PATH}`,
        '',
      ].join('\n'),
    secretFile: {
      name: 'auth.conf',
      path: SECRET_PATH,
      render: (password) => `requirepass ${quoted(password)}\nmasterauth ${quoted(password)}\n`,
    },
    env: ({ secretName, primaryHost }) => [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'PRIMARY_HOST', value: primaryHost },
      secretEnv('REDISCLI_AUTH', secretName, 'password'),
    ],
    args: ['sh', '-c', startScript(`${name}-server`)],
    probes: probesOf({ startup: ping('-e'), readiness: ping('-e'), liveness: ping() }),
    needsSharedMemory: false,
  }
}

export const redis = redisLike({
  name: 'redis',
  title: 'Redis',
  repository: 'redis',
  majors: ['7', '8'],
  defaultMajor: '7',
})

export const valkey = redisLike({
  name: 'valkey',
  title: 'Valkey',
  repository: 'valkey/valkey',
  majors: ['7', '8'],
  defaultMajor: '8',
})
