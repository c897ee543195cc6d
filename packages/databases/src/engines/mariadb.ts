import { type Engine, type EngineLayout, probesOf, secretEnv, versionNumbers } from './engine.ts'
import type { SettingsFormat, SettingValue } from './settings.ts'

const PORT = 3306
const SETTINGS_NAME = 'nest.cnf'

const layouts: ReadonlyMap<string, EngineLayout> = new Map(
  ['10.11', '11.4', '11.8', '12'].map((series) => [
    series,
    { image: `mariadb:${series}`, mountPath: '/var/lib/mysql', dataDirectory: '/var/lib/mysql' },
  ]),
)

const OWNED = 'the operator sets it'
const RUNS_CODE = 'it loads code or runs statements at start'
const STOPS_SERVER = 'the server would not serve'

const REFUSED: ReadonlyMap<string, string> = new Map([
  ...[
    'port',
    'bind_address',
    'socket',
    'datadir',
    'basedir',
    'tmpdir',
    'pid_file',
    'user',
    'chroot',
    'log_error',
    'innodb_data_home_dir',
    'innodb_data_file_path',
    'innodb_log_group_home_dir',
    'innodb_undo_directory',
    'aria_log_dir_path',
    'defaults_file',
    'defaults_extra_file',
    'defaults_group_suffix',
    'no_defaults',
  ].map((name) => [name, OWNED] as const),
  ...['plugin_dir', 'plugin_load', 'plugin_load_add', 'plugin_maturity', 'init_file'].map(
    (name) => [name, RUNS_CODE] as const,
  ),
  ...['networking', 'grant_tables', 'bootstrap', 'help', 'version', 'print_defaults', 'wsrep_on', 'wsrep_provider'].map(
    (name) => [name, STOPS_SERVER] as const,
  ),
])

const REFUSED_NAMES = [...REFUSED.keys()]

/** The server reads an option with these prefixes as the option itself. */
const PREFIXES = /^(?:(?:loose|skip|disable|enable|maximum|autoset)_)+/

export const mariadbFormat: SettingsFormat = {
  name: /^[a-z][a-z0-9_-]*$/i,
  normalize: (name) => name.toLowerCase().replaceAll('-', '_'),
  refusal(name) {
    const bare = name.replace(PREFIXES, '')
    // The server accepts an abbreviation: `datad` is `datadir`.
    const full = bare === '' ? undefined : REFUSED_NAMES.find((refused) => refused.startsWith(bare))
    return full === undefined ? undefined : REFUSED.get(full)
  },
  line: (name, value) => `${name} = ${quoted(value)}`,
}

/** In quotes a number sign does not begin a comment. */
function quoted(value: SettingValue): string {
  if (typeof value === 'boolean') return value ? 'ON' : 'OFF'
  return `"${String(value)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)}"`
}

// Through TCP: while the image initializes the data, its server listens on the socket only, and otherwise not before
// InnoDB has recovered. Any answer will do, as to pg_isready: the owner may change the password, or use all connections. The
// client verifies certificates by default, which the loopback does not need.
const PING = `mariadb-admin --skip-ssl --protocol=tcp --host=127.0.0.1 --port=${PORT} --user="$MARIADB_USER" ping`
const isReady = ['sh', '-c', `MYSQL_PWD="$MARIADB_PASSWORD" exec ${PING}`]

export const mariadb: Engine = {
  name: 'mariadb',
  title: 'MariaDB',
  port: PORT,
  portName: 'mariadb',
  repository: 'mariadb',
  layouts,
  defaultMajor: '11.8',
  isReplicated: false,
  isBoundToVariant: false,
  format: mariadbFormat,
  defaultMemoryLimit: '1Gi',
  terminationGracePeriodSeconds: 120,
  passwordKeys: ['password', 'root_password'],
  uriScheme: 'mysql',
  jdbcScheme: 'mariadb',
  majorOf(version) {
    // The tag `12` moves from one release series to the next, so it is a series of its own.
    const [first, second = 'x'] = versionNumbers(version)
    return first === undefined ? undefined : `${first}.${second}`
  },
  imageFor: (version) => `mariadb:${version}`,
  userOf: () => ({ uid: 999, gid: 999 }),
  settingsFile: { name: SETTINGS_NAME, path: `/etc/mysql/conf.d/${SETTINGS_NAME}` },
  renderSettings: ({ settings }) =>
    [
      '[mariadbd]',
      `port = ${PORT}`,
      // A directory of ext4, not a database.
      'ignore_db_dirs = "lost+found"',
      ...[...settings].map(([name, value]) => mariadbFormat.line(name, value)),
      '',
    ].join('\n'),
  secretFile: undefined,
  env: ({ secretName }) => [
    secretEnv('MARIADB_ROOT_PASSWORD', secretName, 'root_password'),
    { name: 'MARIADB_ROOT_HOST', value: 'localhost' },
    secretEnv('MARIADB_USER', secretName, 'username'),
    secretEnv('MARIADB_PASSWORD', secretName, 'password'),
    secretEnv('MARIADB_DATABASE', secretName, 'database'),
    // The system user of the pod may ping the server through the socket.
    { name: 'MARIADB_MYSQL_LOCALHOST_USER', value: '1' },
    // Upgrades the system tables after a change of version.
    { name: 'MARIADB_AUTO_UPGRADE', value: '1' },
  ],
  args: ['mariadbd'],
  // A ping succeeds as long as the server answers, also with "too many connections": load is not a reason to restart.
  probes: probesOf({ startup: isReady, readiness: isReady, liveness: ['mariadb-admin', 'ping'] }),
  needsSharedMemory: false,
}
