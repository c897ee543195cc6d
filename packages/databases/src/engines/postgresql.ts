import { type Engine, type EngineLayout, isAlpine, probesOf, secretEnv, versionNumbers } from './engine.ts'
import type { SettingsFormat, SettingValue } from './settings.ts'

const PORT = 5432
const SETTINGS_PATH = '/etc/nest/postgresql.conf'

/** From 18 on, the image keeps the data in a directory per major version and the volume is mounted above it. */
const FIRST_MAJOR_WITH_VERSIONED_DATA = 18

const layouts: ReadonlyMap<string, EngineLayout> = new Map(
  [14, 15, 16, 17, 18].map((major) => [
    String(major),
    major < FIRST_MAJOR_WITH_VERSIONED_DATA
      ? {
          image: `postgres:${major}-alpine`,
          mountPath: '/var/lib/postgresql/data',
          // A volume may contain lost+found, and initdb accepts only an empty directory.
          dataDirectory: '/var/lib/postgresql/data/pgdata',
        }
      : {
          image: `postgres:${major}-alpine`,
          mountPath: '/var/lib/postgresql',
          dataDirectory: `/var/lib/postgresql/${major}/docker`,
        },
  ]),
)

const OWNED = 'the operator sets it'
const RUNS_COMMANDS = 'it runs a command or loads code in the pod'
const NEEDS_FILES = 'it names a file that the pod does not have'

const REFUSED: ReadonlyMap<string, string> = new Map([
  ...[
    'port',
    'listen_addresses',
    'data_directory',
    'config_file',
    'hba_file',
    'ident_file',
    'external_pid_file',
    'unix_socket_directories',
    'unix_socket_group',
    'unix_socket_permissions',
    'include',
    'include_dir',
    'include_if_exists',
  ].map((name) => [name, OWNED] as const),
  ...[
    'archive_command',
    'archive_library',
    'archive_cleanup_command',
    'restore_command',
    'recovery_end_command',
    'ssl_passphrase_command',
    'local_preload_libraries',
    'session_preload_libraries',
    'dynamic_library_path',
    'extension_control_path',
    'oauth_validator_libraries',
    'jit_provider',
  ].map((name) => [name, RUNS_COMMANDS] as const),
  ...['ssl', 'ssl_ca_file', 'ssl_cert_file', 'ssl_crl_dir', 'ssl_crl_file', 'ssl_dh_params_file', 'ssl_key_file'].map(
    (name) => [name, NEEDS_FILES] as const,
  ),
  ...['krb_server_keyfile', 'log_directory', 'stats_temp_directory'].map((name) => [name, NEEDS_FILES] as const),
  ...['primary_conninfo', 'primary_slot_name', 'synchronous_standby_names', 'promote_trigger_file'].map(
    (name) => [name, 'the database has no replicas'] as const,
  ),
])

/** Only modules that the image contains: a path would load any file. */
const LIBRARY_LIST = /^[a-z0-9_]+(?: *, *[a-z0-9_]+)*$/i

export const postgresqlFormat: SettingsFormat = {
  name: /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?$/i,
  normalize: (name) => name.toLowerCase(),
  refusal(name, value) {
    if (name === 'shared_preload_libraries' && !LIBRARY_LIST.test(String(value))) {
      return 'it must be a list of module names'
    }
    return REFUSED.get(name)
  },
  line: (name, value) => `${name} = ${quoted(value)}`,
}

/** In quotes a backslash escapes, and a doubled quote is a quote. */
function quoted(value: SettingValue): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return `'${String(value).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

// Through TCP: while the image initializes the data, its server listens on the socket only.
const isReady = ['pg_isready', '--quiet', '--host=127.0.0.1', `--port=${PORT}`]

export const postgresql: Engine = {
  name: 'postgresql',
  title: 'PostgreSQL',
  port: PORT,
  portName: 'postgresql',
  repository: 'postgres',
  layouts,
  defaultMajor: '16',
  isReplicated: false,
  // Alpine sorts texts by other rules, so indexes would be wrong; the file owner differs too.
  isBoundToVariant: true,
  format: postgresqlFormat,
  defaultMemoryLimit: '1Gi',
  terminationGracePeriodSeconds: 120,
  passwordKeys: ['password'],
  uriScheme: 'postgresql',
  jdbcScheme: 'postgresql',
  majorOf: (version) => versionNumbers(version)[0],
  imageFor: (version) => `postgres:${version}-alpine`,
  userOf: (image) => (isAlpine(image) ? { uid: 70, gid: 70 } : { uid: 999, gid: 999 }),
  settingsFile: { name: 'postgresql.conf', path: SETTINGS_PATH },
  renderSettings: ({ layout, settings }) =>
    [
      // initdb adapts this file to the machine: locale, time zone, shared memory.
      `include_if_exists = '${layout.dataDirectory}/postgresql.conf'`,
      "listen_addresses = '*'",
      `port = ${PORT}`,
      ...[...settings].map(([name, value]) => postgresqlFormat.line(name, value)),
      '',
    ].join('\n'),
  secretFile: undefined,
  env: ({ layout, secretName }) => [
    { name: 'PGDATA', value: layout.dataDirectory },
    { name: 'POSTGRES_INITDB_ARGS', value: '--data-checksums' },
    secretEnv('POSTGRES_USER', secretName, 'username'),
    secretEnv('POSTGRES_PASSWORD', secretName, 'password'),
    secretEnv('POSTGRES_DB', secretName, 'database'),
    // pg_isready names a user and a database, and the server logs an error for ones that do not exist.
    secretEnv('PGUSER', secretName, 'username'),
    secretEnv('PGDATABASE', secretName, 'database'),
  ],
  args: ['postgres', '-c', `config_file=${SETTINGS_PATH}`],
  // Status 1 is a server that recovers from a crash: a restart would only begin the recovery again.
  probes: probesOf({
    startup: isReady,
    readiness: isReady,
    liveness: ['sh', '-c', `${isReady.join(' ')}; [ $? -lt 2 ]`],
  }),
  needsSharedMemory: true,
}
