import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { databasesConfig } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { PersistentVolumeClaim, Secret, StatefulSet } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENGINES } from '../../packages/databases/src/engines/table.ts'
import { CONFIG_KEYS } from '../../packages/databases/src/config/database-config.ts'
import { InProcessFloor } from '../floors/index.ts'
import { RunningDatabases } from '../operators/databases/support.ts'

const root = path.resolve(import.meta.dirname, '../..')
const guide = readFileSync(path.join(root, 'docs/guides/databases.md'), 'utf8')
const example = (name: string): string => readFileSync(path.join(root, 'docs/examples/databases', name), 'utf8')
const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('the guide of databases', { timeout: 180_000 }, () => {
  let postgres: TestPostgres
  let floor: InProcessFloor
  let operator: RunningDatabases

  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor ?? 'system')
    floor = await InProcessFloor.enter()
  }, 120_000)
  afterAll(async () => {
    await floor.leave()
    await postgres.stop()
  }, 120_000)

  test('its statements do what it says', async () => {
    operator = await RunningDatabases.start(floor, postgres)
    await operator.sql(example('orders.sql'))
    const [row] = await operator.sql('SELECT id::text AS id FROM resources')
    const id = String(row?.['id'])
    await operator.untilStatus(id, 'active')
    const { namespace } = operator
    const secret = await floor.api.get(Secret, { name: 'orders-credentials', namespace })
    for (const key of ['username', 'password', 'host', 'port', 'uri', 'database', 'jdbc_uri'])
      expect(Object.keys(secret.data ?? {})).toContain(key)
    const migrating = readFileSync(path.join(root, 'docs/guides/migrating/nest-controller.md'), 'utf8')
    const questions = [...migrating.matchAll(/ *```sql\n([\s\S]*?)```/g)].map(([, statement = '']) => statement)
    expect(questions).toHaveLength(1)
    for (const question of questions) expect(await operator.sql(question)).toEqual([])
    await operator.sql(example('grow.sql'))
    await operator.untilStatus(id, 'active')
    const claims = (await floor.api.list(PersistentVolumeClaim, { namespace })).items
    expect(claims.map(({ spec }) => spec?.resources?.requests?.['storage'])).toEqual(['20Gi'])
    await operator.sql(example('pause.sql'))
    await operator.untilStatus(id, 'paused')
    const paused = await floor.api.get(StatefulSet, { name: 'orders', namespace })
    expect(paused.spec?.replicas).toBe(0)
    const progress = await operator.sql(example('progress.sql'))
    expect(progress.map((line) => [line['name'], line['status'], line['reason'], line['job']])).toEqual(
      progress.map(() => ['orders', 'paused', null, 'completed']),
    )
    expect(progress.length).toBeGreaterThan(2)
    await operator.stop()
  })

  test('its commands succeed one after the other', async () => {
    const commands = [...guide.matchAll(/^\$ npm run -s tenure -- (db .*)$/gm)].map(([, words = '']) =>
      words.split(' '),
    )
    expect(commands.length).toBeGreaterThan(8)
    operator = await RunningDatabases.start(floor, postgres)
    for (const words of commands) {
      const { code, output } = await tenure(words)
      expect([words.join(' '), code, output]).toEqual([words.join(' '), 0, expect.any(String)])
    }
    expect(await operator.sql(`SELECT DISTINCT status FROM resources`)).toEqual([{ status: 'deleted' }])
    expect(await operator.sql(`SELECT DISTINCT status FROM provisioning_jobs`)).toEqual([{ status: 'completed' }])
    const claims = (await floor.api.list(PersistentVolumeClaim, { namespace: operator.namespace })).items
    expect(claims.map(({ metadata }) => metadata.name)).toEqual(['data-orders-0'])
    await operator.stop()
  })

  /** Runs a command as a process, while the operator works. */
  async function tenure(words: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
    const { database, host, password, port, user } = operator.address
    const env = { ...process.env, DATABASE_URL: `postgres://${user}:${password?.reveal()}@${host}:${port}/${database}` }
    let result: { readonly code: unknown; readonly output: string } | undefined
    const program = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...words]
    execFile(process.execPath, program, { cwd: root, env }, (error, stdout, stderr) => {
      result = { code: error?.code ?? 0, output: stdout + stderr }
    })
    return await operator.until(`tenure ${words.join(' ')} ends`, () => result)
  }
})

test('its tables name every config key, every engine and every version', () => {
  for (const key of CONFIG_KEYS) expect(guide).toMatch(new RegExp(`^\\|.*\`${key}\`.*\\|`, 'm'))
  for (const { defaultMajor, layouts, name, port } of Object.values(ENGINES)) {
    const [, type, image, versions, shownPort] =
      guide
        .split('\n')
        .filter((line) => line.startsWith(`| \`${name}\` `))
        .map((line) => line.split('|').map((cell) => cell.trim()))[0] ?? []
    expect([type, image, versions, shownPort]).toEqual([
      `\`${name}\``,
      `\`${layouts.get(defaultMajor)?.image}\``,
      [...layouts.keys()].join(', '),
      String(port),
    ])
  }
})

test('it names the ports of the settings', () => {
  expect(guide).toContain(`on port ${databasesConfig.healthCheckPort.default}`)
  expect(guide).toContain(`Port ${databasesConfig.metricsPort.default} has`)
})
