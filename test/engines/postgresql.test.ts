import { appendFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { postgresqlFormat } from '../../packages/databases/src/engines/postgresql.ts'
import { EngineServer, isMissing } from './engine-server.ts'
import { hostileValues } from './hostile-values.ts'

const values = hostileValues(postgresqlFormat, 60)
const settings = {
  work_mem: '8MB',
  max_connections: 37,
  log_connections: true,
  ...Object.fromEntries(values.map((value, index) => [`nest.hostile${index}`, value])),
}

describe.skipIf(isMissing('postgres', 'initdb', 'psql', 'pg_isready'))(
  'a PostgreSQL server with rendered settings (skipped without the packages of PostgreSQL)',
  { timeout: 180_000 },
  () => {
    let server: EngineServer
    afterAll(() => server.close())

    const psql = (sql: string, password = server.secret['password'] ?? ''): Promise<string> =>
      server.must(
        ['psql', '--no-psqlrc', '-qAt', '-h', '127.0.0.1', '-p', String(server.port)],
        { PGPASSWORD: password },
        sql,
      )

    /** As the image's entrypoint does it. The image trusts the loopback, which would let any password pass here. */
    async function initialize(): Promise<void> {
      const {
        PGDATA = '',
        POSTGRES_USER = '',
        POSTGRES_PASSWORD = '',
        POSTGRES_DB = '',
        POSTGRES_INITDB_ARGS = '',
      } = server.env()
      server.write('pwfile', `${POSTGRES_PASSWORD}\n`)
      await server.must([
        'initdb',
        `--username=${POSTGRES_USER}`,
        `--pwfile=${server.directory}/pwfile`,
        '--auth-local=trust',
        '--auth-host=scram-sha-256',
        ...POSTGRES_INITDB_ARGS.split(' '),
        '-D',
        PGDATA,
      ])
      appendFileSync(`${PGDATA}/pg_hba.conf`, 'host all all all scram-sha-256\n')
      const [, ...args] = server.args
      const options = [...args, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${server.directory}`]
      server.start(['postgres', ...options])
      const isUp = async (): Promise<boolean> =>
        (await server.run(['pg_isready', '-q', '-h', server.directory, '-p', String(server.port)])).code === 0
      await server.until(isUp)
      // The rendered probes go through TCP, so they wait for the end of this phase.
      expect(await server.probe('startupProbe')).not.toBe(0)
      await server.must([
        'psql',
        '-h',
        server.directory,
        '-p',
        String(server.port),
        '-d',
        'postgres',
        '-c',
        `CREATE DATABASE "${POSTGRES_DB}"`,
      ])
      await server.stop('SIGINT')
    }

    const startAsRendered = async (): Promise<void> => {
      const [command = '', ...args] = server.args
      server.start([command, ...args, '-c', `unix_socket_directories=${server.directory}`])
      await server.until(async () => (await server.probe('startupProbe')) === 0)
    }

    test('the server starts, takes the credentials of the Secret and keeps its data', async () => {
      server = await EngineServer.create('postgresql', { version: 15, settings }, 'postgres')
      await initialize()
      expect(await server.probe('livenessProbe')).not.toBe(0)
      await startAsRendered()
      expect([await server.probe('readinessProbe'), await server.probe('livenessProbe')]).toEqual([0, 0])

      expect(await psql('SELECT current_user, current_database()')).toBe('app|app')
      await expect(psql('SELECT 1', 'wrong')).rejects.toThrow('password authentication failed')
      expect(await psql('SHOW work_mem')).toBe('8MB')
      expect(await psql('SHOW max_connections')).toBe('37')
      expect(await psql('SHOW log_connections')).toBe('on')
      expect(await psql('SHOW data_checksums')).toBe('on')
      // initdb's file is included: without it the locale would be C.
      expect(await psql('SHOW lc_messages')).toBe('C.UTF-8')
      for (const [index, value] of values.entries()) expect(await psql(`SHOW nest.hostile${index}`)).toBe(value)
      expect(server.commandLinesWith(server.secret['password'] ?? '')).toEqual([])

      await psql("CREATE TABLE kept (text text); INSERT INTO kept VALUES ('still here')")
      expect(await server.stop('SIGINT')).toBe(0)
      expect(await server.probe('livenessProbe')).not.toBe(0)
      await startAsRendered()
      expect(await psql('SELECT text FROM kept')).toBe('still here')
    })

    test('a server that takes no connections for a while is alive but not ready', async () => {
      const sleeper = server.run(
        ['psql', '-qAt', '-h', '127.0.0.1', '-p', String(server.port), '-c', 'SELECT pg_sleep(60)'],
        { PGPASSWORD: server.secret['password'] ?? '' },
      )
      const sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
      await server.until(async () => (await psql(sleeping)) === '1')
      // This signal lets clients finish and refuses others, as a server does that recovers from a crash.
      server.signal('SIGTERM')
      await server.until(async () => (await server.probe('readinessProbe')) !== 0)
      expect(await server.probe('readinessProbe')).toBe(1)
      expect(await server.probe('livenessProbe')).toBe(0)
      await server.stop('SIGINT')
      expect(await server.probe('livenessProbe')).not.toBe(0)
      await sleeper
    })

    test('the URI of the Secret connects', async () => {
      await startAsRendered()
      const uri = server.map(server.secret['uri'] ?? '').replace('shop.n.svc', '127.0.0.1')
      expect(await server.must(['psql', '-qAt', uri, '-c', 'SELECT 1'])).toBe('1')
    })
  },
)
