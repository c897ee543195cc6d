import { type ControlPlane, startControlPlane } from '@tenure/controlplane'
import type { AccessControl } from '@tenure/http'
import { HttpError, httpServer } from '@tenure/http'
import { asError, Client, systemClock, systemRandom } from '@tenure/kube'
import { Secret, StatefulSet } from '@tenure/kube/kinds'
import { configure, runOperators } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { databases } from '../operator.ts'
import type { DatabaseAddress } from '../postgres/database.ts'
import { postgresFlavors, TestPostgres, until } from '../testing/postgres.ts'
import type { DatabaseRow } from './views/databases-view.ts'

const [flavor] = postgresFlavors
const PREFIX = 'team-'

interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Details {
  readonly row: DatabaseRow
  readonly config: object
  readonly jobs: readonly { readonly type: string; readonly status: string; readonly logs: string }[]
  readonly audit: readonly {
    readonly id: string
    readonly action: string
    readonly at: number
    readonly changes: readonly string[]
  }[]
}

interface RunOptions {
  /** Default: false. */
  readonly isElected?: boolean
  readonly identity?: string
  readonly accessControl?: AccessControl
}

/** One process of the operator, which is stopped after the test. */
async function run(plane: ControlPlane, address: DatabaseAddress, options: RunOptions = {}) {
  const { accessControl, identity, isElected = false } = options
  const settings = {
    ...defaultValues(databases.config),
    dbHost: address.host,
    dbPort: address.port,
    dbUser: address.user,
    dbPassword: address.password?.reveal(),
    dbName: address.database,
    namespacePrefix: PREFIX,
    enableMetrics: false,
    enableHealthCheck: false,
  }
  const end = new AbortController()
  let url: string | undefined
  let isReady = false
  const ended = runOperators(
    {
      operators: [configure(databases, settings)],
      transport: plane.transportFor({}),
      ...(!isElected && { leaderElection: false }),
      ...(identity !== undefined && { identity }),
      servers: [
        httpServer({
          address: '127.0.0.1:0',
          ...(accessControl && { accessControl }),
          onListening: (listening) => (url = listening.url),
        }),
      ],
      onReady: () => (isReady = true),
      gracePeriod: 1_000,
    },
    end.signal,
  )
  let failure: Error | undefined
  ended.catch((error: unknown) => (failure = asError(error)))
  onTestFinished(async () => {
    end.abort()
    await ended
  })
  await until(() => {
    if (failure !== undefined) throw failure
    return isReady && url !== undefined
  }, 60_000)
  const send = async (method: string, target: string, body?: object): Promise<Answer> => {
    const headers = { authorization: 'Bearer x', ...(body && { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}${target}`, init)
    const text = await response.text()
    return { status: response.status, text, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
  }
  return {
    send,
    rows: async () => (await send('GET', '/api/v1/views/databases')).json['items'] as readonly DatabaseRow[],
    details: async (id: string) => (await send('GET', `/api/v1/databases/${id}`)).json as unknown as Details,
  }
}

describe.skipIf(flavor === undefined)('the HTTP API of databases', { timeout: 90_000 }, () => {
  let server: TestPostgres
  let plane: ControlPlane
  let api: Client

  beforeAll(async () => {
    server = await TestPostgres.start(flavor ?? 'system')
    plane = await startControlPlane({ port: false })
    api = new Client({ transport: plane.transport, clock: systemClock, random: systemRandom })
  }, 60_000)
  afterAll(async () => {
    await plane.stop()
    await server.stop()
  }, 60_000)

  /** Inserts a row as the platform does; returns its id. The team is the namespace's. */
  async function insert(
    address: DatabaseAddress,
    { name, team = 1, type = 'redis' }: { readonly name: string; readonly team?: number; readonly type?: string },
    columns: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    await server.run(`INSERT INTO teams (id, name) VALUES (${team}, 'team ${team}') ON CONFLICT DO NOTHING`, address)
    const extra = Object.entries(columns)
    const [row] = await server.run(
      `INSERT INTO resources (name, resource_type_id, team_id${extra.map(([column]) => `, ${column}`).join('')})
       VALUES ('${name}', (SELECT id FROM resource_types WHERE name = '${type}'), ${team}${extra.map(([, value]) => `, ${value}`).join('')})
       RETURNING id::text AS id`,
      address,
    )
    return String(row?.['id'])
  }

  test('a database is shown, scaled, paused, resumed and deleted, and its password is never sent', async () => {
    const address = await server.createDatabase()
    const operator = await run(plane, address)
    const id = await insert(address, { name: 'orders', team: 1 }, { config: `'{"settings": {"maxclients": 50}}'` })
    const rowOf = async () => (await operator.rows()).find((row) => row.id === id)
    await until(async () => (await rowOf()) !== undefined)
    const row = await until(async () => {
      const now = await rowOf()
      return now?.status === 'active' && now.job === undefined ? now : undefined
    }, 60_000)
    expect(row).toMatchObject({
      name: 'orders',
      namespace: `${PREFIX}1`,
      team: 'team 1',
      engine: 'redis',
      replicas: 1,
      readyReplicas: 1,
      host: `orders.${PREFIX}1.svc`,
      port: 6379,
      secretName: 'orders-credentials',
      generation: '1',
      observedGeneration: '1',
    })
    const read = await operator.send('GET', `/api/v1/databases/${id}`)
    expect(read).toMatchObject({ status: 200, json: { row, config: { settings: { maxclients: 50 } } } })
    const { audit, jobs } = await operator.details(id)
    expect(jobs).toMatchObject([{ type: 'create', status: 'completed', logs: expect.stringContaining('done') }])
    expect(audit).toMatchObject([{ id: expect.any(String), action: 'resource.created', at: expect.any(Number) }])
    expect(audit[0]?.changes).toContain('replicas: 1')
    const secret = await api.get(Secret, { name: 'orders-credentials', namespace: `${PREFIX}1` })
    const password = Buffer.from(secret.data?.['password'] ?? '', 'base64').toString()
    expect(password).not.toBe('')
    expect(read.text).not.toContain(password)

    const replicasOf = async () =>
      (await api.get(StatefulSet, { name: 'orders', namespace: `${PREFIX}1` })).spec?.replicas
    expect(await operator.send('POST', `/api/v1/databases/${id}/scale`, { replicas: 2 })).toMatchObject({ status: 202 })
    await until(async () => (await rowOf())?.readyReplicas === 2, 60_000)
    expect(await replicasOf()).toBe(2)
    expect(await operator.send('POST', `/api/v1/databases/${id}/pause`)).toMatchObject({ status: 202 })
    await until(async () => {
      const now = await rowOf()
      return now?.status === 'paused' && now.replicas === 0 && now.job === undefined
    }, 60_000)
    expect(await operator.send('POST', `/api/v1/databases/${id}/resume`)).toMatchObject({ status: 202 })
    await until(async () => {
      const now = await rowOf()
      return now?.status === 'active' && now.readyReplicas === 2 && now.job === undefined
    }, 60_000)
    expect((await operator.details(id)).jobs.map(({ status, type }) => `${type} ${status}`)).toEqual([
      'scale completed',
      'scale completed',
      'scale completed',
      'create completed',
    ])

    expect(await operator.send('DELETE', `/api/v1/databases/${id}?deleteData=true`)).toMatchObject({ status: 202 })
    await until(async () => (await rowOf()) === undefined, 60_000)
    expect((await operator.details(id)).row.status).toBe('deleted')
    expect((await operator.details(id)).config).toMatchObject({ delete_data: true })
    const again = await operator.send('DELETE', `/api/v1/databases/${id}`)
    expect(again).toMatchObject({ status: 409, json: { error: 'The database orders is deleted' } })
  })

  test('bad input and missing rows are answered before anything is written', async () => {
    const address = await server.createDatabase()
    const { send } = await run(plane, address)
    const id = await insert(address, { name: 'single', team: 2, type: 'postgresql' })
    const watched = await insert(address, { name: 'watched', team: 2 }, { lifecycle_mode: `'monitor_only'` })
    const one = `/api/v1/databases/${id}`
    for (const replicas of [-1, 1.5, 101, '2', null, undefined]) {
      const answer = await send('POST', `${one}/scale`, { replicas })
      expect(answer).toMatchObject({ status: 400, json: { details: [{ field: 'replicas' }] } })
    }
    expect(await send('POST', `${one}/scale`, { replicas: 2 })).toMatchObject({
      status: 400,
      json: { details: [{ field: 'replicas', message: expect.stringContaining('is not replicated') }] },
    })
    expect(await send('POST', `${one}/scale`, { replicas: 1, image: 'x' })).toMatchObject({ status: 400 })
    expect(await send('DELETE', `${one}?deleteData=yes`)).toMatchObject({ status: 400 })
    for (const missing of ['999', '0', 'orders', '9'.repeat(15), '9'.repeat(19), '1%20OR%201%3D1', `${id}%00`]) {
      expect(await send('GET', `/api/v1/databases/${missing}`)).toMatchObject({ status: 404 })
      expect(await send('POST', `/api/v1/databases/${missing}/pause`)).toMatchObject({ status: 404 })
    }
    for (const action of ['pause', 'resume']) {
      const answer = await send('POST', `/api/v1/databases/${watched}/${action}`)
      expect(answer).toMatchObject({ status: 409, json: { error: expect.stringContaining('monitor_only') } })
    }
    expect(await send('GET', `/api/v1/databases/${watched}`)).toMatchObject({ status: 200 })
    expect(await server.run(`SELECT generation::text AS generation FROM resources`, address)).toEqual([
      { generation: '1' },
      { generation: '1' },
    ])
  })

  test('ids of an integer column are compared as numbers of any size', async () => {
    const address = await server.createDatabase()
    const { send } = await run(plane, address)
    await server.run('ALTER TABLE provisioning_jobs DROP CONSTRAINT provisioning_jobs_resource_id_fkey', address)
    await server.run('ALTER TABLE resources ALTER COLUMN id TYPE integer', address)
    expect(await send('GET', `/api/v1/databases/${'9'.repeat(15)}`)).toMatchObject({ status: 404 })
  })

  test('values that another program should not have written are not shown', async () => {
    const address = await server.createDatabase()
    const { send } = await run(plane, address)
    const id = await insert(
      address,
      { name: 'old', team: 3 },
      {
        lifecycle_mode: `'monitor_only'`,
        config: `'{"admin_password": "hunter2", "users": [{"password": "hunter3"}]}'`,
        connection_info: `'{"host": "db.example", "password": "hunter4"}'`,
        credentials: `'{"username": "app", "password": "hunter5"}'`,
      },
    )
    await server.run(
      `INSERT INTO audit_logs (action, resource_type, resource_id, details)
       VALUES ('x', 'resources', ${id}, '{"password": "hunter6", "changes": [{"token": "hunter7"}]}')`,
      address,
    )
    const answer = await send('GET', `/api/v1/databases/${id}`)
    expect(answer).toMatchObject({ status: 200, json: { row: { host: 'db.example' } } })
    expect(answer.text).not.toContain('hunter')
    expect((await send('GET', '/api/v1/views/databases')).text).not.toContain('hunter')
  })

  test('a replica that does not lead shows no rows, and its routes work', async () => {
    const address = await server.createDatabase()
    const leader = await run(plane, address, { isElected: true, identity: 'one' })
    const follower = await run(plane, address, { isElected: true, identity: 'two' })
    const id = await insert(address, { name: 'shared', team: 4 })
    const rowOf = async () => (await leader.rows()).find((row) => row.id === id)
    await until(async () => (await rowOf())?.status === 'active', 60_000)
    expect(await follower.rows()).toEqual([])
    expect((await follower.details(id)).row).toMatchObject({ name: 'shared', status: 'active' })
    expect(await follower.send('POST', `/api/v1/databases/${id}/scale`, { replicas: 3 })).toMatchObject({ status: 202 })
    await until(async () => (await rowOf())?.readyReplicas === 3, 60_000)
  })

  test('the permission is that of the namespace of the database, and of all namespaces without one', async () => {
    const asked: object[] = []
    const accessControl: AccessControl = {
      authenticate: () => Promise.resolve({ name: 'jane', groups: [] }),
      authorize: (_user, access) => {
        if (typeof access === 'object' && 'group' in access && access.group === 'databases.tenure.dev') {
          asked.push(access)
          if (access.verb !== 'get' || access.namespace !== `${PREFIX}5`)
            return Promise.reject(new HttpError('TENURE_HTTP_FORBIDDEN', 403, 'no'))
        }
        return Promise.resolve()
      },
    }
    const address = await server.createDatabase()
    const { send } = await run(plane, address, { accessControl })
    const id = await insert(address, { name: 'guarded', team: 5 })
    expect(await send('GET', `/api/v1/databases/${id}`)).toMatchObject({ status: 200 })
    expect(await send('POST', `/api/v1/databases/${id}/pause`)).toMatchObject({ status: 403 })
    expect(await send('DELETE', `/api/v1/databases/${id}`)).toMatchObject({ status: 403 })
    expect(await send('GET', '/api/v1/databases/999')).toMatchObject({ status: 403 })
    const resource = { group: 'databases.tenure.dev', resource: 'databases' }
    const one = { ...resource, namespace: `${PREFIX}5`, name: 'guarded' }
    expect(asked).toMatchObject([
      { ...one, verb: 'get' },
      { ...one, verb: 'update' },
      { ...one, verb: 'delete' },
      { ...resource, verb: 'get' },
    ])
    expect(asked.at(-1)).not.toMatchObject({ namespace: expect.anything() })
    expect(await server.run('SELECT status, deleted_at FROM resources', address)).toMatchObject([{ deleted_at: null }])
  })

  test('the routes are in the OpenAPI document with their schemas', async () => {
    const { send } = await run(plane, await server.createDatabase())
    const { paths } = (await send('GET', '/openapi.json')).json as { paths: Record<string, Record<string, object>> }
    const one = '/api/v1/databases/{id}'
    expect(Object.keys(paths).filter((path) => path.startsWith(one))).toEqual([
      one,
      `${one}/scale`,
      `${one}/pause`,
      `${one}/resume`,
    ])
    expect(Object.keys(paths[one] ?? {}).toSorted()).toEqual(expect.arrayContaining(['delete', 'get']))
    expect(paths[`${one}/scale`]?.['post']).toMatchObject({ tags: ['databases'], requestBody: {} })
  })
})
