import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresFlavors, TestPostgres } from '../../testing/postgres.ts'
import { StoreFixture } from '../../testing/store.ts'

const changes: readonly (readonly [column: string, value: string])[] = [
  ['name', `'other'`],
  ['resource_type_id', '2'],
  ['team_id', '2'],
  ['status', `'paused'`],
  ['lifecycle_mode', `'partial'`],
  ['k8s_namespace', `'elsewhere'`],
  ['config', `'{"replicas": 2}'`],
  ['deleted_at', 'now()'],
]
const others: readonly (readonly [column: string, value: string])[] = [
  ['connection_info', `'{"a": 1}'`],
  ['credentials', `'{"a": 1}'`],
  ['k8s_resource_name', `'x'`],
  ['observed_generation', '1'],
  ['updated_at', 'now()'],
  ['can_scale', 'false'],
  ['name', 'name'],
  ['config', `'{}'`],
]

interface ListeningFixture {
  readonly fixture: StoreFixture
  readonly heard: string[]
  readonly id: string
}

async function listening(server: TestPostgres): Promise<ListeningFixture> {
  const fixture = await StoreFixture.create(server, 'integer')
  await fixture.sql(`INSERT INTO teams (name) VALUES ('Team Two')`)
  const id = await fixture.insert('db')
  const heard: string[] = []
  const client = await server.connect(fixture.address)
  onTestFinished(() => client.end())
  client.on('notification', ({ channel, payload }) => heard.push(`${channel}:${payload}`))
  await client.query('LISTEN tenure_resources; LISTEN done')
  return { fixture, heard, id }
}

/** Notifications arrive in order: the last one shows that all others were heard. */
async function allHeard({ fixture, heard }: ListeningFixture): Promise<readonly string[]> {
  await fixture.sql('NOTIFY done')
  await expect.poll(() => heard.at(-1)).toBe('done:')
  return heard.slice(0, -1)
}

describe.each(postgresFlavors)('the trigger (%s)', (flavor) => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(flavor)
  }, 60_000)
  afterAll(() => server.stop())

  test.each(changes)('a change of %s grows the generation and notifies', async (column, value) => {
    const listener = await listening(server)
    await listener.fixture.sql(`UPDATE resources SET ${column} = ${value} WHERE id = $1`, [listener.id])
    expect(await listener.fixture.read(listener.id)).toMatchObject({ generation: '2' })
    expect(await allHeard(listener)).toEqual(['tenure_resources:'])
  })

  test.each(others)('setting %s to %s does neither', async (column, value) => {
    const listener = await listening(server)
    await listener.fixture.sql(`UPDATE resources SET ${column} = ${value} WHERE id = $1`, [listener.id])
    expect(await listener.fixture.read(listener.id)).toMatchObject({ generation: '1' })
    expect(await allHeard(listener)).toEqual([])
  })

  test('an insert of many rows notifies once', async () => {
    const listener = await listening(server)
    await listener.fixture.sql(
      `INSERT INTO resources (name, resource_type_id, team_id) SELECT 'r' || n, 1, 1 FROM generate_series(1, 100) n`,
    )
    expect(await allHeard(listener)).toEqual(['tenure_resources:'])
  })

  test('a rolled-back change notifies no listener', async () => {
    const listener = await listening(server)
    await listener.fixture.sql('BEGIN')
    await listener.fixture.sql(`UPDATE resources SET name = 'x'`)
    await listener.fixture.sql('ROLLBACK')
    expect(await allHeard(listener)).toEqual([])
  })

  test('a generation that the platform writes back does not go down', async () => {
    const { fixture, id } = await listening(server)
    await fixture.sql(`UPDATE resources SET name = 'x' WHERE id = $1`, [id])
    await fixture.sql(`UPDATE resources SET generation = 1 WHERE id = $1`, [id])
    expect(await fixture.read(id)).toMatchObject({ generation: '3' })
  })

  test('writers do not notify while a reader announces that it polls', async () => {
    const listener = await listening(server)
    await listener.fixture.store.announcePolling(900)
    await listener.fixture.sql(`UPDATE resources SET name = 'x'`)
    // The announcement itself wakes other readers.
    expect(await allHeard(listener)).toEqual(['tenure_resources:'])
    expect(await listener.fixture.read(listener.id)).toMatchObject({ generation: '2' })
  })

  test('an announcement too far ahead is ignored', async () => {
    const listener = await listening(server)
    await listener.fixture.store.announcePolling(3_600_000)
    await listener.fixture.sql(`UPDATE resources SET name = 'x'`)
    expect(await allHeard(listener)).toEqual(['tenure_resources:', 'tenure_resources:'])
  })

  test('a platform user without rights on the sequence and functions can write', async () => {
    const { fixture } = await listening(server)
    const role = `platform_${process.pid}_${flavor}`
    await fixture.sql(`CREATE ROLE ${role}`)
    await fixture.sql(`GRANT SELECT, INSERT, UPDATE ON resources TO ${role}`)
    await fixture.sql(`GRANT USAGE ON SEQUENCE resources_id_seq TO ${role}`)
    await fixture.sql(`SET ROLE ${role}`)
    await expect(fixture.insert('mine')).resolves.toBe('2')
    await fixture.sql(`UPDATE resources SET name = 'x'`)
    await fixture.sql('RESET ROLE')
  })
})
