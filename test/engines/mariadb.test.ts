import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mariadbFormat } from '../../packages/databases/src/engines/mariadb.ts'
import { EngineServer, isMissing } from './engine-server.ts'
import { hostileValues } from './hostile-values.ts'

const hostile = hostileValues(mariadbFormat, 40)
const settings = {
  max_connections: 37,
  'innodb-buffer-pool-size': '64M',
  slow_query_log: true,
  skip_name_resolve: true,
  report_host: hostile[0],
  report_user: hostile.join(' | ').slice(0, 1_500),
}

describe.skipIf(isMissing('mariadbd', 'mariadb-install-db', 'mariadb', 'mariadb-admin'))(
  'a MariaDB server with rendered settings (skipped without the package mariadb-server)',
  { timeout: 180_000 },
  () => {
    let server: EngineServer
    afterAll(() => server.close())

    const socket = (): string => `${server.directory}/mysqld.sock`
    /** The image includes its conf.d in the same way. */
    const command = (...extra: readonly string[]): readonly string[] => [
      ...server.args,
      `--defaults-file=${server.directory}/my.cnf`,
      `--datadir=${server.map('/var/lib/mysql')}`,
      `--socket=${socket()}`,
      `--pid-file=${server.directory}/pid`,
      `--tmpdir=${server.directory}`,
      ...extra,
    ]

    const sql = (
      text: string,
      password = server.secret['password'] ?? '',
      user = server.secret['username'] ?? '',
    ): Promise<string> =>
      server.must(
        [
          'mariadb',
          '--no-defaults',
          '--protocol=tcp',
          '-h',
          '127.0.0.1',
          '-P',
          String(server.port),
          '-u',
          user,
          '-BNr',
        ],
        { MYSQL_PWD: password },
        text,
      )

    const asRoot = (text: string): Promise<string> =>
      server.must(
        ['mariadb', '--no-defaults', `--socket=${socket()}`, '-u', 'root'],
        { MYSQL_PWD: server.secret['root_password'] ?? '' },
        text,
      )

    /** As the image's entrypoint does it with the rendered environment. */
    async function initialize(): Promise<void> {
      server.write('my.cnf', `!includedir ${path.dirname(server.map('/etc/mysql/conf.d/nest.cnf'))}\n`)
      // The image's clients find the socket at its default place.
      server.write('.my.cnf', `[client]\nsocket = ${socket()}\n`)
      await server.must([
        'mariadb-install-db',
        `--defaults-file=${server.directory}/my.cnf`,
        `--datadir=${server.map('/var/lib/mysql')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ])
      server.start(command('--skip-networking'))
      const isUp = async (): Promise<boolean> => (await server.probe('livenessProbe')) === 0
      await server.until(isUp)
      // These probes go through TCP, so they wait for the end of this phase.
      expect([await server.probe('startupProbe'), await server.probe('readinessProbe')]).not.toContain(0)
      const env = server.env()
      const statements = [
        `CREATE USER mysql@localhost IDENTIFIED VIA unix_socket`,
        `CREATE DATABASE \`${env['MARIADB_DATABASE']}\``,
        `CREATE USER '${env['MARIADB_USER']}'@'%' IDENTIFIED BY '${env['MARIADB_PASSWORD']}'`,
        `GRANT ALL ON \`${env['MARIADB_DATABASE']}\`.* TO '${env['MARIADB_USER']}'@'%'`,
        `ALTER USER root@localhost IDENTIFIED BY '${env['MARIADB_ROOT_PASSWORD']}'`,
      ]
      await server.must(
        ['mariadb', '--no-defaults', `--socket=${socket()}`, '-u', 'root'],
        {},
        `${statements.join(';\n')};\n`,
      )
      await server.stop()
    }

    const isReady = async (): Promise<boolean> => (await server.probe('startupProbe')) === 0

    test('the server starts, takes the credentials of the Secret and keeps its data', async () => {
      server = await EngineServer.create('mariadb', { version: '10.11', settings }, 'mysql')
      await initialize()
      const probes = async () => [await server.probe('readinessProbe'), await server.probe('livenessProbe')]
      expect(await probes()).not.toContain(0)
      server.start(command())
      await server.until(isReady)
      expect(await probes()).toEqual([0, 0])
      expect(await sql(`SELECT support FROM information_schema.ENGINES WHERE engine = 'InnoDB'`)).toBe('DEFAULT')

      expect(await sql('SELECT USER(), DATABASE()')).toMatch(/^app@\S+\tNULL$/)
      await expect(sql('SELECT 1', 'wrong')).rejects.toThrow('Access denied')
      expect(
        await sql('SELECT @@max_connections, @@innodb_buffer_pool_size, @@slow_query_log, @@skip_name_resolve'),
      ).toBe(`37\t${64 * 2 ** 20}\t1\t1`)
      expect(await sql('SELECT @@report_host')).toBe(settings.report_host)
      expect(await sql('SELECT @@report_user')).toBe(settings.report_user)
      const passwords = [server.secret['password'] ?? '', server.secret['root_password'] ?? '']
      expect(server.commandLinesWith(...passwords)).toEqual([])

      await sql("CREATE TABLE app.kept (text VARCHAR(20)); INSERT INTO app.kept VALUES ('still here')")
      expect(await server.stop('SIGTERM')).toBe(0)
      expect(await probes()).not.toContain(0)
      server.start(command())
      await server.until(isReady)
      expect(await sql('SELECT text FROM app.kept')).toBe('still here')
    })

    test('a server whose owner changes the password is ready', async () => {
      await asRoot(`ALTER USER app@'%' IDENTIFIED BY 'changed'`)
      await expect(sql('SELECT 1')).rejects.toThrow('Access denied')
      expect(await server.probe('readinessProbe')).toBe(0)
      await asRoot(`ALTER USER app@'%' IDENTIFIED BY '${server.secret['password']}'`)
    })

    test('a server that has too many connections is ready and alive', async () => {
      await asRoot('SET GLOBAL max_connections = 10')
      const client = ['mariadb', '--no-defaults', `--socket=${socket()}`, '-u']
      const password = { MYSQL_PWD: server.secret['password'] ?? '' }
      const sleep = () => server.run([...client, 'app', '-e', 'SELECT SLEEP(60)'], password)
      const sleepers = Array.from({ length: 10 }, sleep)
      await server.until(async () => {
        // A question may have held the connection that an earlier sleeper needed.
        sleepers.push(sleep())
        return (await server.run([...client, 'app', '-e', 'SELECT 1'], password)).code !== 0
      })
      expect((await server.run([...client, 'app', '-e', 'SELECT 1'], password)).stderr).toContain(
        'Too many connections',
      )
      expect([await server.probe('readinessProbe'), await server.probe('livenessProbe')]).toEqual([0, 0])
      await server.stop('SIGKILL')
      expect([await server.probe('readinessProbe'), await server.probe('livenessProbe')]).not.toContain(0)
      await Promise.all(sleepers)
    })
  },
)
