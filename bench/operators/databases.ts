import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Client, KubeObject, Stored } from '@tenure/kube'
import { metadataOf, strategicPatch, systemClock, systemRandom } from '@tenure/kube'
import { ConfigMap, Namespace, Pod, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { isDeepEqual } from '@tenure/kube/model'
import { silentLogger } from '@tenure/runtime'
import { connectDatabase } from '../../packages/databases/src/postgres/connection.ts'
import type { Database } from '../../packages/databases/src/postgres/database.ts'
import { ResourceStore } from '../../packages/databases/src/postgres/resource-store.ts'
import { createStorageClass, startProvisioner, TEST_CLASS } from '../../test/operators/databases/volumes.ts'
import { rssMb } from '../control-plane/processes.ts'
import { connect, inParallel } from '../programs/cluster.ts'
import type { Row } from '../rows.ts'
import type { OperatorContext } from './applications.ts'
import { DATABASES_AT_ONCE, DatabasesOperator, type Platform } from './databases-operator.ts'
import { pause, quantile } from './operator-process.ts'

const INSERTED = 1_000
const CHANGES = 200
const READY_CHANGES = 100
const MANY = 10_000
/** Milliseconds until a process without work has collected its garbage. */
const REST_MS = 30_000
const WRITERS = 32
const WRITES_PER_SECOND = 500
const WRITING_SECONDS = 20
const WRITTEN_ROWS = 1_000

/** Measures the databases operator as a process on a real cluster, with the system's PostgreSQL. */
export async function databaseRows(context: OperatorContext): Promise<readonly Row[]> {
  return await withOperator(context, async (operator, client) => {
    const { say } = context
    const inserted = await insertAtOnce(operator, client)
    say(`  ${INSERTED} databases after ${Math.round(inserted.ours)} ms`)
    const late = await changedRows(operator, client, inserted.namespace)
    say('  changes measured')
    const ready = await readyPods(operator, client)
    say('  ready pods measured')
    const writes = await platformWrites(operator)
    say('  writes of the platform measured')
    return [
      {
        what: `${INSERTED} resources inserted at once, until all StatefulSets exist`,
        unit: 'ms',
        ours: inserted.ours,
        peer: inserted.bare,
        bound: { on: 'ratio', is: 'at most', limit: 1.5 },
      },
      atMost('changed row to StatefulSet, p50', 'ms', quantile(late, 0.5), 25),
      atMost('… p99', 'ms', quantile(late, 0.99), 100),
      atMost('ready pod to row, p50; with the StatefulSet controller', 'ms', quantile(ready.afterPod, 0.5), 25),
      atMost('… p99', 'ms', quantile(ready.afterPod, 0.99), 100),
      atMost('… after the StatefulSet reported it, p50', 'ms', quantile(ready.afterStatefulSet, 0.5), 25),
      atMost('… p99', 'ms', quantile(ready.afterStatefulSet, 0.99), 100),
      {
        what: `platform's writes, ${WRITERS} writers, ${WRITES_PER_SECOND}/s, p99; right: without the trigger`,
        unit: 'ms',
        ours: quantile(writes.ours, 0.99),
        peer: quantile(writes.bare, 0.99),
        bound: { on: 'ratio', is: 'at most', limit: 1.2 },
      },
      {
        what: '… right: with the least trigger, and a program that reads each changed row',
        unit: 'ms',
        ours: quantile(writes.ours, 0.99),
        peer: quantile(writes.least, 0.99),
        bound: { on: 'ratio', is: 'at most', limit: 1.1 },
      },
    ]
  })
}

/** The same with 10,000 managed rows, none of which changes. */
export async function manyDatabaseRows(context: OperatorContext): Promise<readonly Row[]> {
  return await withOperator(context, async (operator, client) => {
    const namespace = await newNamespace(client)
    await operator.insert(MANY, 'many', namespace)
    await operator.untilStatus('active', MANY, namespace)
    context.say(`  ${MANY} databases are active`)
    await pause(REST_MS)
    const pass = await fullPass(operator)
    const rss = rssMb([operator.pid])
    await client.delete(Namespace, { name: namespace })
    return [
      atMost(`full pass over ${MANY} unchanged rows`, 'ms', pass.took, 1_000),
      atMost('… queries', '', pass.queries, 5),
      atMost(`RSS with ${MANY} managed rows`, 'MB', rss, 250),
    ]
  })
}

async function withOperator(
  { kubeconfig }: OperatorContext,
  measure: (operator: DatabasesOperator, client: Client) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { client, transport } = await connect(kubeconfig)
  const operator = await DatabasesOperator.start(kubeconfig)
  try {
    return await measure(operator, client)
  } finally {
    await operator.stop()
    await transport.close()
  }
}

async function insertAtOnce(
  operator: DatabasesOperator,
  client: Client,
): Promise<{ readonly ours: number; readonly bare: number; readonly namespace: string }> {
  const namespace = await newNamespace(client)
  const existing = untilStatefulSets(client, namespace)
  const began = performance.now()
  await operator.insert(INSERTED, 'db', namespace)
  await existing
  const ours = performance.now() - began
  await operator.untilStatus('active', INSERTED, namespace)
  const objects = await objectsOf(client, namespace, 'db-1')
  const other = await newNamespace(client)
  const created = untilStatefulSets(client, other)
  const start = performance.now()
  await inParallel(INSERTED, DATABASES_AT_ONCE, async (index) => {
    for (const { kind, object } of objects) {
      const name = (object.metadata.name ?? '').replace('db-1', `bare-${index}`)
      const { labels } = object.metadata
      await client.create(kind, { ...object, metadata: { name, namespace: other, ...(labels && { labels }) } })
    }
  })
  await created
  const bare = performance.now() - start
  await client.delete(Namespace, { name: other })
  while (await exists(client, other)) await pause(500)
  return { ours, bare, namespace }
}

/** The objects of one database, as a client would create them. */
async function objectsOf(client: Client, namespace: string, name: string) {
  const read = async (kind: typeof Secret | typeof ConfigMap | typeof Service | typeof StatefulSet, own: string) => {
    const { status: _, ...object } = (await client.get(kind, { name: own, namespace })) as Stored<KubeObject> & {
      readonly status?: unknown
    }
    return { kind, object: withoutAddresses(object) }
  }
  return [
    await read(Secret, `${name}-credentials`),
    await read(ConfigMap, `${name}-config`),
    await read(Service, `${name}-headless`),
    await read(Service, name),
    await read(StatefulSet, name),
  ]
}

/** A Service of another name gets addresses of its own. */
function withoutAddresses(object: Stored<KubeObject>): Stored<KubeObject> {
  const { spec, ...rest } = object as Stored<KubeObject> & { readonly spec?: Readonly<Record<string, unknown>> }
  if (!spec || spec['clusterIP'] === undefined || spec['clusterIP'] === 'None') return object
  const { clusterIP: _, clusterIPs: __, ...kept } = spec
  return { ...rest, spec: kept } as Stored<KubeObject>
}

async function untilStatefulSets(client: Client, namespace: string): Promise<void> {
  const { metadata } = await client.list(StatefulSet, { namespace })
  let count = 0
  for await (const events of client.watch(StatefulSet, { namespace, resourceVersion: metadata.resourceVersion })) {
    count += events.filter(({ type }) => type === 'ADDED').length
    if (count >= INSERTED) return
  }
}

/** Milliseconds from the commit of each change until the StatefulSet shows it. */
async function changedRows(
  { platform }: DatabasesOperator,
  client: Client,
  namespace: string,
): Promise<readonly number[]> {
  const name = 'db-1'
  const { metadata } = await client.get(StatefulSet, { name, namespace })
  const seen = new Map<string, (time: number) => void>()
  const ended = new AbortController()
  const watching = (async () => {
    const selection = { namespace, resourceVersion: metadata.resourceVersion, signal: ended.signal }
    for await (const events of client.watch(StatefulSet, selection)) {
      const now = performance.now()
      for (const event of events) {
        if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue
        const limit = event.object.spec?.template.spec?.containers[0]?.resources?.limits?.['memory']
        seen.get(limit ?? '')?.(now)
      }
    }
  })()
  watching.catch(() => undefined)
  const late: number[] = []
  for (let number = 0; number < CHANGES; number++) {
    // Above the default, so that each value is a change.
    const limit = `${600 + number}Mi`
    const shown = new Promise<number>((resolve) => seen.set(limit, resolve))
    await platform.query(
      `UPDATE resources SET config = config || jsonb_build_object('memory_limit', $1::text) WHERE name = $2 AND k8s_namespace = $3`,
      [limit, name, namespace],
    )
    const committed = performance.now()
    late.push(Math.max((await shown) - committed, 0))
    // The next change is one of an otherwise idle machine.
    await pause(50)
  }
  ended.abort(new Error('All changes were seen'))
  return late
}

/**
 * Milliseconds from a pod's Ready condition, and from the StatefulSet's report of it, until the row shows it. The benchmark
 * sets the condition itself, as a kubelet does.
 */
async function readyPods(
  operator: DatabasesOperator,
  client: Client,
): Promise<{ readonly afterPod: readonly number[]; readonly afterStatefulSet: readonly number[] }> {
  const namespace = await newNamespace(client)
  const name = 'ready-1'
  await createStorageClass({ api: client })
  const stopProvisioner = startProvisioner({ api: client }, namespace)
  await operator.insert(1, 'ready', namespace, { replicas: 1, storage_class: TEST_CLASS })
  await operator.untilStatus('active', 1, namespace)
  await stopProvisioner()
  const reports = await client.get(StatefulSet, { name, namespace })
  const ended = new AbortController()
  const reported = new Map<number, (time: number) => void>()
  const watching = (async () => {
    const { resourceVersion } = reports.metadata
    for await (const events of client.watch(StatefulSet, { namespace, resourceVersion, signal: ended.signal })) {
      const now = performance.now()
      for (const event of events)
        if (event.type !== 'BOOKMARK') reported.get(event.object.status?.readyReplicas ?? 0)?.(now)
    }
  })()
  watching.catch(() => undefined)
  const rows = await operator.watchReadyReplicas(name)
  const setReady = async (isReady: boolean): Promise<void> => {
    const status = isReady ? 'True' : 'False'
    const type = 'Ready'
    await client.patch(
      Pod,
      { name: `${name}-0`, namespace },
      strategicPatch({ status: { conditions: [{ type, status }] } }),
      { subresource: 'status' },
    )
  }
  const afterPod: number[] = []
  const afterStatefulSet: number[] = []
  for (let number = 0; number < READY_CHANGES; number++) {
    const down = rows.next(0)
    await setReady(false)
    await down
    await pause(50)
    const report = new Promise<number>((resolve) => reported.set(1, resolve))
    const row = rows.next(1)
    await setReady(true)
    const acknowledged = performance.now()
    const written = await row
    afterPod.push(Math.max(written - acknowledged, 0))
    afterStatefulSet.push(Math.max(written - (await report), 0))
    await pause(50)
  }
  ended.abort(new Error('All changes were seen'))
  await rows.end()
  return { afterPod, afterStatefulSet }
}

/** The least trigger that tells of changed rows: it counts the generation, and names the row. */
const LEAST_TRIGGER = `
CREATE FUNCTION bench_changed() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  NEW.generation := OLD.generation + 1;
  PERFORM pg_notify('bench', NEW.id::text);
  RETURN NEW;
END $body$;
CREATE TRIGGER bench_changed BEFORE UPDATE ON resources
FOR EACH ROW WHEN (OLD.config IS DISTINCT FROM NEW.config) EXECUTE FUNCTION bench_changed();`

/** Another database with the same tables and rows, whose triggers are off, and without an operator. */
async function withoutTriggers({ postgres }: DatabasesOperator): Promise<DatabasesOperator['address']> {
  const address = await postgres.createDatabase()
  const database = connectDatabase({ address, clock: systemClock, random: systemRandom, log: silentLogger })
  try {
    await new ResourceStore(database, silentLogger).prepare()
  } finally {
    await database.close()
  }
  await postgres.run(
    `ALTER TABLE resources DISABLE TRIGGER USER;
     INSERT INTO teams (id, name) VALUES (1, 'bench');
     INSERT INTO resources (name, resource_type_id, team_id, k8s_namespace, config, lifecycle_mode)
     SELECT 'written-' || n, (SELECT id FROM resource_types WHERE name = 'redis'), 1, 'nowhere', '{"replicas": 0}', 'monitor_only'
     FROM generate_series(1, ${WRITTEN_ROWS}) n`,
    address,
  )
  return address
}

/** Latencies of the platform's updates with the trigger and, in another database, without it. */
async function platformWrites(
  operator: DatabasesOperator,
): Promise<{ readonly ours: readonly number[]; readonly bare: readonly number[]; readonly least: readonly number[] }> {
  const { postgres } = operator
  await operator.insert(WRITTEN_ROWS, 'written', 'nowhere', { replicas: 0 }, 'monitor_only')
  const plain = await withoutTriggers(operator)
  const notifying = await withoutTriggers(operator)
  await postgres.run(LEAST_TRIGGER, notifying)
  const reader = await startReader(notifying)
  const all = await Promise.all(
    [operator.address, plain, notifying].map(async (address) => ({
      ids: (await postgres.run(`SELECT id FROM resources WHERE name LIKE 'written-%' ORDER BY id`, address)).map(
        ({ id }) => String(id),
      ),
      clients: await Promise.all(Array.from({ length: WRITERS }, () => postgres.connect(address))),
    })),
  )
  const latencies: number[][] = all.map(() => [])
  // Alternating, so that all meet the same disturbances.
  for (let round = 0; round < 4; round++) {
    for (const [index, platform] of all.entries())
      latencies[index]?.push(...(await writeFor(platform, WRITING_SECONDS / 4)))
  }
  reader.kill()
  await Promise.all(all.flatMap(({ clients }) => clients).map((client) => client.end()))
  const [ours = [], bare = [], least = []] = latencies
  return { ours, bare, least }
}

/** Starts the least program that learns of changed rows. */
async function startReader({
  host,
  port,
  user,
  password,
  database,
}: DatabasesOperator['address']): Promise<ChildProcess> {
  const program = path.join(import.meta.dirname, 'programs/row-reader.ts')
  const connection = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: database }
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...connection, PGPASSWORD: password?.reveal() ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

interface Writers {
  readonly ids: readonly string[]
  readonly clients: readonly Platform[]
}

/** Updates rows by their ids, as a platform does. */
async function writeFor({ clients, ids }: Writers, seconds: number): Promise<readonly number[]> {
  const latencies: number[] = []
  const began = performance.now()
  await Promise.all(
    clients.map(async (client, writer) => {
      const count = Math.floor((WRITES_PER_SECOND * seconds) / WRITERS)
      for (let number = 0; number < count; number++) {
        const due = ((number * WRITERS + writer) / WRITES_PER_SECOND) * 1_000
        await pause(Math.max(due - (performance.now() - began), 0))
        const start = performance.now()
        await client.query(
          `UPDATE resources SET config = config || jsonb_build_object('note', $1::text) WHERE id = $2`,
          [`${start}`, ids[(number * WRITERS + writer) % ids.length]],
        )
        latencies.push(performance.now() - start)
      }
    }),
  )
  return latencies
}

/** Reads all rows again, as the operator does, and compares them with those of before. */
async function fullPass({ address }: DatabasesOperator): Promise<{ readonly took: number; readonly queries: number }> {
  let queries = 0
  const database = connectDatabase({ address, clock: systemClock, random: systemRandom, log: silentLogger })
  const counted: Database = Object.create(database, {
    query: {
      value: (...args: Parameters<Database['query']>) => {
        queries++
        return database.query(...args)
      },
    },
  }) as Database
  try {
    const store = new ResourceStore(counted, silentLogger)
    await store.prepare()
    const before = new Map((await store.readAll()).rows.map((row) => [row.id, row]))
    queries = 0
    const start = performance.now()
    const { rows } = await store.readAll()
    const changed = rows.filter((row) => !isDeepEqual(before.get(row.id), row))
    const took = performance.now() - start
    if (rows.length < MANY || changed.length > 0) throw new Error(`${rows.length} rows, ${changed.length} changed`)
    return { took, queries }
  } finally {
    await database.close()
  }
}

async function exists(client: Client, name: string): Promise<boolean> {
  const { items } = await client.list(metadataOf(Namespace))
  return items.some(({ metadata }) => metadata.name === name)
}

async function newNamespace(client: Client): Promise<string> {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'bench-databases-' } })
  return metadata.name
}

function atMost(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}
