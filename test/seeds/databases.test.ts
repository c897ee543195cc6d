import { readFileSync } from 'node:fs'
import path from 'node:path'
import { startControlPlane } from '@tenure/controlplane'
import { databasesConfig } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { Client, type KubeObject, SecretValue, systemClock } from '@tenure/kube'
import { type Container, type Deployment, Lease } from '@tenure/kube/kinds'
import { Discovery } from '@tenure/runtime'
import { defaultValues, defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import { loadAll } from 'js-yaml'
import { afterEach, describe, expect, test } from 'vitest'
import { HttpsFloor } from '../floors/index.ts'
import { nestController } from './commands.ts'
import { hasTools, POLL_OPTIONS, Terminal } from './terminal.ts'

const root = path.resolve(import.meta.dirname, '../..')
const [flavor] = postgresFlavors
const configuration = defineConfiguration({ program: 'tenure databases', summary: '', options: databasesConfig })

const cleanups: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function openTerminal(): Terminal {
  const terminal = new Terminal()
  cleanups.push(() => terminal.close())
  return terminal
}

/** The variables of the document's `export` lines. */
const exported = Object.fromEntries(
  nestController.exports.split('\n').map((line) => line.replace('export ', '').split('=') as [string, string]),
)

test('every variable of the document exists, with its default', async () => {
  const names = new Set(configuration.rows.map((row) => row.environment))
  expect(Object.keys({ ...nestController.defaults, ...exported }).filter((name) => !names.has(name))).toEqual([
    // Every command of Tenure reads it.
    'KUBECONFIG',
  ])
  // Logs are JSON without the variable too, except on a terminal.
  const { LOG_FORMAT, ...environment } = nestController.defaults
  expect(LOG_FORMAT).toBe('json')
  const loaded = await readConfiguration(configuration, { argv: [], environment })
  expect(loaded).toMatchObject({ kind: 'values', values: defaultValues(databasesConfig) })
})

const containerOf = (all: readonly KubeObject[]): Container | undefined =>
  (all.find(({ kind }) => kind === 'Deployment') as Deployment).spec?.template.spec?.containers[0]

test("the document's manifest is valid, and its container has settings that the operator reads", async () => {
  const objects = loadAll(nestController.deployment) as readonly KubeObject[]
  const plane = await startControlPlane({ port: false, controllers: false })
  cleanups.push(() => plane.stop())
  const api = new Client({ transport: plane.transport })
  const discovery = new Discovery(api.requester, systemClock)
  const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'nest-system' } }
  for (const object of [namespace, ...objects]) {
    const [version = '', group = ''] = (object.apiVersion ?? '').split('/').toReversed()
    const kind = await discovery.kind({ group, version, kind: object.kind ?? '' })
    await api.create(kind, object, { fieldValidation: 'Strict' })
  }
  const theirs = containerOf(objects)
  const environment = Object.fromEntries((theirs?.env ?? []).map(({ name, value }) => [name, value]))
  await expect(readConfiguration(configuration, { argv: [], environment })).resolves.toMatchObject({ kind: 'values' })
  // `kubectl logs -n nest-system -l app=nest-controller` and the probes find the same pods and ports.
  const manifest = loadAll(readFileSync(path.join(root, 'deploy/databases.yaml'), 'utf8')) as readonly KubeObject[]
  const ours = containerOf(manifest)
  expect(ours).toMatchObject({
    ports: expect.arrayContaining([...(theirs?.ports ?? [])]),
    livenessProbe: theirs?.livenessProbe,
    readinessProbe: theirs?.readinessProbe,
    env: expect.arrayContaining([...(theirs?.env ?? [])]),
  })
  expect(manifest.find(({ kind }) => kind === 'Deployment')).toMatchObject({
    metadata: { namespace: 'nest-system' },
    spec: { template: { metadata: { labels: { app: 'nest-controller' } } } },
  })
})

describe.skipIf(!hasTools || flavor === undefined)('the commands of "NEST Kubernetes Controller"', () => {
  test(
    'the controller runs with the variables of the document, and answers its addresses',
    { timeout: 300_000 },
    async () => {
      const terminal = openTerminal()
      const postgres = await TestPostgres.start(flavor ?? 'system')
      cleanups.push(() => postgres.stop())
      await postgres.run(`CREATE ROLE nest LOGIN PASSWORD '${exported['DB_PASSWORD']}'`)
      await postgres.run('CREATE DATABASE nest OWNER nest')
      const floor = await HttpsFloor.embedded()
      cleanups.push(() => floor.leave())
      const job = await terminal.start(nestController.run, {
        ...exported,
        DB_HOST: '127.0.0.1',
        DB_PORT: String(postgres.port),
        KUBECONFIG: floor.kubeconfig,
        HEALTH_CHECK_PORT: String(await terminal.port(8080)),
        METRICS_PORT: String(await terminal.port(9090)),
      })
      cleanups.push(() => job.end())
      await expect
        .poll(() => terminal.type(nestController.readyz), { ...POLL_OPTIONS, message: job.output })
        .toBe('ready')
      expect(await terminal.type(nestController.healthz)).toBe('ok')
      const server = {
        host: '127.0.0.1',
        port: postgres.port,
        user: 'postgres',
        password: new SecretValue(''),
        database: 'nest',
      }
      const sql = (text: string) => postgres.run(text, server)
      await expect.poll(() => sql(`SELECT 1 FROM resource_types`).catch(() => []), POLL_OPTIONS).toHaveLength(4)
      await sql(`INSERT INTO teams (name) VALUES ('payments');
      INSERT INTO resources (name, resource_type_id, team_id)
      VALUES ('cache', (SELECT id FROM resource_types WHERE name = 'redis'), 1)`)
      await expect.poll(() => sql('SELECT status FROM resources'), POLL_OPTIONS).toEqual([{ status: 'active' }])
      const metrics = await terminal.type(nestController.metrics)
      for (const line of [
        'nest_resources_total{type="redis",status="active",team="payments",lifecycle_mode="full"} 1',
        'nest_provisioning_jobs_total{type="create",status="completed"} 1',
        'nest_db_up 1',
      ])
        expect(metrics).toContain(line)
      await job.end()
      // A clean stop frees the Lease.
      const leases = (await floor.api.list(Lease, {})).items.filter(
        ({ metadata }) => metadata.name === 'nest-controller-leader',
      )
      expect(leases.map(({ spec }) => spec?.holderIdentity ?? '')).toEqual([''])
      expect(job.output).not.toContain(exported['DB_PASSWORD'])
    },
  )

  test('tenure db finds the PostgreSQL of npm start by itself', { timeout: 300_000 }, async () => {
    const terminal = openTerminal()
    await terminal.startTenure('npm start')
    const db = (words: string) => terminal.type(`TENURE_DATA=${terminal.data} npm run -s tenure -- db ${words}`)
    expect(await db('create orders --type postgresql --team payments')).toContain(
      'database orders is active at orders.',
    )
    expect(await db('list')).toMatch(/^orders +payments +postgresql +active +1\/1 /m)
    expect(await db('delete orders')).toContain('database orders is deleted')
  })
})
