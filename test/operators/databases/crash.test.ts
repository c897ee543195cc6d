import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InProcessFloor } from '../../floors/index.ts'
import { Crashes } from './crashes.ts'
import { RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors
const KINDS = [ConfigMap, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service, StatefulSet] as const

describe.skipIf(flavor === undefined)('databases', { timeout: 400_000 }, () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor ?? 'system')
  }, 120_000)
  afterAll(() => postgres.stop(), 120_000)

  /** The life of a database. Returns all that is left of each part of it: the row, its jobs, its audit trail, its objects. */
  async function live(crashes: Crashes | undefined): Promise<Readonly<Record<string, unknown>>> {
    const floor = await InProcessFloor.enter()
    const operator = await RunningDatabases.start(floor, postgres, {
      ...(crashes && { settings: { dbPort: crashes.port }, onStep: crashes.onStep }),
    })
    const left: Record<string, unknown> = {}
    let id = ''

    async function part(name: string, status: string, change: () => Promise<unknown>): Promise<void> {
      if (crashes) crashes.part = name
      await change()
      for (;;) {
        await operator.until(`${name} is done, or a crash`, async () => {
          if (crashes?.isDown) return true
          const row = await operator.row(id)
          const isLive = (await operator.jobList(id)).some((job) => job.endsWith('running'))
          return row['status'] === status && row['observed_generation'] === row['generation'] && !isLive
        })
        if (!crashes?.isDown) break
        await operator.stopOperator()
        crashes.recover()
        await operator.run(crashes.onStep)
      }
      left[name] = await outcome()
    }

    async function outcome(): Promise<object> {
      const { namespace } = operator
      const lists = await Promise.all(KINDS.map((kind) => floor.api.list(kind, { namespace })))
      const objects = lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
      const { credentials, status } = await operator.row(id)
      const changes = (await operator.audit(id)).map(({ action, details }) => {
        const { changes: list } = details as { changes: readonly unknown[] }
        return { action, changes: list }
      })
      return {
        status,
        credentials: Object.keys(credentials as object),
        jobs: await operator.jobList(id),
        changes,
        objects,
      }
    }

    const config = { storage_size: '1Gi', replicas: 1 }
    await part('create', 'active', async () => (id = await operator.insert('crashing', 'redis', config)))
    await part('scale', 'active', () => operator.configure(id, { ...config, replicas: 2 }))
    const settings = { maxclients: 99 }
    await part('settings', 'active', () => operator.configure(id, { ...config, replicas: 2, settings }))
    await part('growth', 'active', () => operator.configure(id, { storage_size: '2Gi', replicas: 2, settings }))
    await part('pause', 'paused', () => operator.update(id, { status: `'paused'` }))
    await part('resume', 'active', () => operator.update(id, { status: `'active'` }))
    await part('deletion', 'deleted', () => operator.update(id, { deleted_at: 'now()' }))
    await operator.stop()
    await floor.leave()
    return left
  }

  test('a crash before and after every write changes neither the end, nor the jobs, nor the audit trail', async () => {
    const expected = await live(undefined)
    const crashes = await Crashes.start(postgres.port)
    const actual = await live(crashes)
    await crashes.stop()
    // Each part writes at least its begin and its end, and changes at least one object.
    for (const part of ['create', 'scale', 'settings', 'growth', 'pause', 'resume', 'deletion']) {
      const seen = crashes.seen.filter((write) => write.startsWith(`${part}:`))
      expect(seen.filter((write) => write.endsWith('commit')).length).toBeGreaterThanOrEqual(4)
      expect(seen.filter((write) => !write.endsWith('commit')).length).toBeGreaterThanOrEqual(2)
    }
    expect(actual).toEqual(expected)
  })
})
