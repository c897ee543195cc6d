import { dashboardConfig } from '@tenure/http/config'
import {
  connectionConfig,
  leaderElectionConfig,
  logConfig,
  portConfig,
  type Table,
  type Values,
} from '@tenure/runtime/configuration'
import { SSL_MODES } from './postgres/database.ts'

/** Every setting of the databases operator. Variables and defaults are those of the original. */
export const databasesConfig = {
  dbHost: {
    type: 'string',
    default: 'localhost',
    meaning:
      'Host of the PostgreSQL server, or the folder of its Unix socket. `embedded`: the server that `tenure start` runs.',
  },
  dbPort: { type: 'integer', default: 5432, min: 1, max: 65_535, meaning: 'Port of the PostgreSQL server.' },
  dbUser: {
    type: 'string',
    default: 'nest',
    meaning: 'User of the PostgreSQL server. The first start needs the right to alter the tables.',
  },
  dbPassword: {
    type: 'string',
    flag: false,
    secret: true,
    meaning:
      'Password of that user. Required unless DB_HOST is a socket. Not a flag, because other users of the machine can read ' +
      'the flags of a process.',
  },
  dbName: { type: 'string', default: 'nest', meaning: 'Database with the tables of the platform.' },
  dbSslMode: {
    type: 'string',
    choices: SSL_MODES,
    default: 'disable',
    meaning:
      'TLS to the PostgreSQL server: none, without a check of the certificate, with one, or with one of the host name too.',
  },
  ...connectionConfig,
  watchAllNamespaces: {
    type: 'boolean',
    default: false,
    meaning:
      'Manage rows of any namespace. Without it a row must be in a namespace whose name begins with NAMESPACE_PREFIX.',
  },
  namespacePrefix: {
    type: 'string',
    default: 'nest-team-',
    meaning: 'A row without a namespace is in the namespace with this prefix and the id of its team.',
  },
  reconcileInterval: {
    // Claims have a setting of that name, too.
    clusterOnly: true,
    type: 'duration',
    default: '30s',
    min: '1s',
    meaning: 'All rows are read this often, in case a notification was lost.',
  },
  workerCount: { type: 'integer', default: 5, min: 1, max: 256, meaning: 'Resources that are worked on at once.' },
  maxRetries: {
    type: 'integer',
    default: 3,
    min: 0,
    max: 100,
    meaning: 'A job fails after this many repeated tries. Later tries continue at BACKOFF_MAX.',
  },
  backoffBase: { type: 'duration', default: '5s', min: '1ms', meaning: 'Delay before the first repeated try.' },
  backoffMax: { type: 'duration', default: '5m', min: '1ms', meaning: 'The longest delay between tries.' },
  ...portConfig,
  ...leaderElectionConfig,
  ...logConfig,
  ...dashboardConfig,
} as const satisfies Table

export type DatabasesSettings = Values<typeof databasesConfig>
