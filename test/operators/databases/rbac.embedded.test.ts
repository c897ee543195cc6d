/** Runs the operator with the account and the roles of its manifest: they are enough, and no permission is unused. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { databasesRbac } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { type KubeObject, mergePatch, systemClock, type Transport } from '@tenure/kube'
import { Secret } from '@tenure/kube/kinds'
import { Discovery, type PolicyRule, runOperators } from '@tenure/runtime'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Floor, InProcessFloor } from '../../floors/index.ts'
import { RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors
const manifest = path.resolve(import.meta.dirname, '../../../deploy/databases.yaml')
const NAMESPACE = 'nest-system'
const ACCOUNT = {
  name: `system:serviceaccount:${NAMESPACE}:nest-controller`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'],
}

interface Recorded {
  /** `patch apps/statefulsets`. */
  readonly permission: string
  readonly status: number
}

/** The permission that a request needs; undefined: none, as for discovery. */
function permissionOf(method: string, target: string): string | undefined {
  const url = new URL(target, 'http://server')
  const match = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/(?!$))?([^/]+)(?:\/([^/]+))?$/.exec(
    url.pathname,
  )
  if (!match) return undefined
  const [, group = '', resource = '', name] = match
  const read = url.searchParams.get('watch') ? 'watch' : name === undefined ? 'list' : 'get'
  const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }
  return `${verbs[method] ?? read} ${group}/${resource}`
}

function recording(transport: Transport, into: Recorded[]): Transport {
  return {
    async request(request) {
      const response = await transport.request(request)
      const permission = permissionOf(request.method, request.path)
      if (permission !== undefined) into.push({ permission, status: response.status })
      return response
    },
    close: () => transport.close(),
  }
}

const permissionsIn = (rules: readonly PolicyRule[] = []): readonly string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  )

describe.skipIf(flavor === undefined)('the roles of the databases operator', { timeout: 180_000 }, () => {
  let postgres: TestPostgres
  let floor: InProcessFloor
  let operator: RunningDatabases
  const requests: Recorded[] = []

  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor ?? 'system')
    floor = await InProcessFloor.enter()
    const { api, clock, plane, random } = floor
    const discovery = new Discovery(api.requester, systemClock)
    for (const object of loadAll(readFileSync(manifest, 'utf8')) as readonly KubeObject[]) {
      if (object.kind === 'Deployment') continue
      const [version = '', group = ''] = (object.apiVersion ?? '').split('/').toReversed()
      await api.create(await discovery.kind({ group, version, kind: object.kind ?? '' }), object)
    }
    const transport = recording(plane.transportFor({ user: ACCOUNT }), requests)
    const limited: Floor = Object.create(floor, {
      runOperators: {
        value: (options: Parameters<Floor['runOperators']>[0]) =>
          floor.run({
            run: (signal) => runOperators({ ...options, leaderElection: {}, transport, clock, random }, signal),
          }),
      },
    })
    operator = await RunningDatabases.start(limited, postgres, {
      settings: { leaderElectionNamespace: NAMESPACE },
    })
  }, 120_000)
  afterAll(async () => {
    await operator.stop()
    await floor.leave()
    await postgres.stop()
  }, 120_000)

  test('they are enough for everything that the operator does, and none is unused', async () => {
    const set = (id: string, config: object) =>
      operator.sql(`UPDATE resources SET config = '${JSON.stringify(config)}' WHERE id = ${id}`)
    const id = await operator.insert('cache', 'redis', { replicas: 2 })
    await operator.untilStatus(id, 'active')
    await set(id, { replicas: 1 })
    await operator.untilStatus(id, 'active')
    await set(id, { replicas: 1, storage_size: '2Gi' })
    await operator.untilStatus(id, 'active')

    // A Secret without its labels gets them again, and one of another program is looked at.
    const { namespace } = operator
    const credentials = { name: 'cache-credentials', namespace }
    await floor.api.patch(Secret, credentials, mergePatch({ metadata: { labels: { 'managed-by': null } } }))
    await operator.until('the Secret has its label', async () => {
      const { metadata } = await floor.api.get(Secret, credentials)
      return metadata.labels?.['managed-by'] !== undefined
    })
    await floor.api.create(Secret, { metadata: { name: 'other-credentials', namespace } })
    const other = await operator.insert('other', 'redis')
    await operator.until('the job has failed', async () => (await operator.jobs(other))[0]?.['status'] === 'failed')

    // The Lease is renewed.
    await floor.pass(30_000)
    await operator.sql(
      `UPDATE resources SET config = config || '{"delete_data": true}', deleted_at = now() WHERE id = ${id}`,
    )
    await operator.untilStatus(id, 'deleted')

    expect(requests.filter(({ status }) => status === 403)).toEqual([])
    // The API server's own check of an apply that creates is not a request.
    const used = new Set(
      requests.flatMap(({ permission }) => [
        permission,
        ...(permission.startsWith('patch ') ? [permission.replace('patch', 'create')] : []),
      ]),
    )
    const granted = [...permissionsIn(databasesRbac.cluster), ...permissionsIn(databasesRbac.namespace)]
    // Needed for adopted StatefulSets with OrderedReady: their failing pods hold up the rollout of a correction.
    expect(granted.filter((permission) => !used.has(permission))).toEqual(['delete /pods'])
  })
})
