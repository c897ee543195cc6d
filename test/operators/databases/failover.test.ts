import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { Secret, StatefulSet } from '@tenure/kube/kinds'
import type { ActionStep } from '@tenure/runtime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { type RunDatabasesOptions, RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('A failover to an older copy of PostgreSQL', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases | undefined

    beforeEach(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
    }, 120_000)
    afterEach(async () => {
      await operator?.stop()
      await postgres.stop()
    }, 120_000)

    async function start(options: RunDatabasesOptions = {}): Promise<RunningDatabases> {
      operator = await RunningDatabases.start(floor(), postgres, options)
      return operator
    }

    /** A copy of the data as it is now. The server restarts for it, because a running one writes. */
    async function copy(): Promise<string> {
      await postgres.halt()
      const snapshot = await postgres.snapshot()
      await postgres.start()
      return snapshot
    }

    async function failOver(snapshot: string): Promise<void> {
      await postgres.halt()
      await postgres.restore(snapshot)
      await postgres.start()
    }

    test('the older rows win, and their jobs and audit trail go on from there', async () => {
      const release = Promise.withResolvers<void>()
      const holdInterrupted = async ({ action, phase }: ActionStep): Promise<void> => {
        const isApply = action.type === 'apply' && action.kind === StatefulSet
        if (isApply && phase === 'before' && action.object.metadata?.name === 'interrupted') await release.promise
      }
      const running = await start({ onStep: holdInterrupted })
      const { namespace } = running
      const uidsOf = async (name: string) => (await running.pods(name)).map(({ metadata }) => metadata.uid)
      const replicasOf = async (name: string) => (await running.statefulSet(name)).spec?.replicas
      const passwordOf = async (name: string) =>
        (await floor().api.get(Secret, { name: `${name}-credentials`, namespace })).data?.['password']
      const scaled = await running.insert('scaled', 'redis')
      const changed = await running.insert('changed', 'redis')
      const gone = await running.insert('gone', 'postgresql')
      const untouched = await running.insert('untouched', 'redis')
      for (const id of [scaled, changed, gone, untouched]) await running.untilStatus(id, 'active')
      const interrupted = await running.insert('interrupted', 'redis')
      await running.until('its job runs', async () => (await running.jobList(interrupted)).includes('create running'))

      const snapshot = await copy()
      release.resolve()
      await running.untilStatus(interrupted, 'active')
      for (const id of [scaled, changed]) {
        await running.configure(id, { replicas: 3 })
        await running.untilStatus(id, 'active')
      }
      const lost = await running.insert('lost', 'redis')
      await running.untilStatus(lost, 'active')
      const password = await passwordOf('gone')
      await running.update(gone, { deleted_at: 'now()' })
      await running.untilStatus(gone, 'deleted')
      const [claim] = await running.claims('gone')
      const uids = { lost: await uidsOf('lost'), untouched: await uidsOf('untouched') }

      await failOver(snapshot)
      // The operator has reached this generation of the row already, with another content.
      await running.configure(changed, { replicas: 2 })
      expect(await running.row(changed)).toMatchObject({ generation: '2', observed_generation: '1' })

      await running.until('the scaled one is small again', async () => (await replicasOf('scaled')) === 1)
      await running.until('the changed one has the later size', async () => (await replicasOf('changed')) === 2)
      await running.until('the deleted one is back', async () => running.exists(StatefulSet, 'gone'))
      for (const id of [scaled, changed, gone, untouched, interrupted]) await running.untilStatus(id, 'active')
      await running.until('no job is left', async () => {
        const live = await running.sql(`SELECT 1 FROM provisioning_jobs WHERE status IN ('pending', 'running')`)
        return live.length === 0
      })

      expect(await running.jobList(scaled)).toEqual(['create completed', 'scale completed'])
      expect(await running.jobList(changed)).toEqual(['create completed', 'scale completed'])
      for (const [id, to] of [
        [scaled, 1],
        [changed, 2],
      ] as const) {
        expect(await running.audit(id)).toMatchObject([
          { action: 'resource.created' },
          { action: 'resource.scaled', details: { changes: [{ field: 'replicas', from: 3, to }] } },
        ])
      }
      expect(await running.jobList(gone)).toEqual(['create completed', 'update completed'])
      expect(await running.actions(gone)).toEqual(['resource.created', 'resource.updated'])
      expect(await passwordOf('gone')).toBe(password)
      expect((await running.claims('gone')).map(({ metadata }) => metadata.uid)).toEqual([claim?.metadata.uid])
      expect(await running.jobList(interrupted)).toEqual(['create completed'])
      expect(await running.actions(interrupted)).toEqual(['resource.created'])
      expect(await running.jobList(untouched)).toEqual(['create completed'])
      expect({ lost: await uidsOf('lost'), untouched: await uidsOf('untouched') }).toEqual(uids)
    })

    test('a new row with the id of a lost one does not touch the database of that', async () => {
      let failures = 0
      const failAfterLastObject = ({ action, phase }: ActionStep): void => {
        const isLast = action.type === 'remove' && action.kind === Secret && phase === 'after'
        if (isLast && failures++ === 0) throw new Error('Made up')
      }
      const running = await start({ onStep: failAfterLastObject })
      await running.untilStatus(await running.insert('first', 'redis'), 'active')
      const snapshot = await copy()
      const lost = await running.insert('lost', 'redis')
      await running.untilStatus(lost, 'active')
      const left = async () => {
        const [pods, claims] = [await running.pods('lost'), await running.claims('lost')]
        return [...pods, ...claims].map(({ metadata }) => metadata.uid)
      }
      const before = await left()

      await failOver(snapshot)
      const successor = await running.insert('successor', 'redis', { delete_data: true })
      expect(successor).toBe(lost)
      await running.untilStatus(successor, 'active')
      expect(await running.jobList(successor)).toEqual(['create completed'])
      await running.update(successor, { deleted_at: 'now()' })
      await running.untilStatus(successor, 'deleted')
      expect(failures).toBeGreaterThan(0)
      expect(await running.claims('successor')).toEqual([])
      expect(await running.exists(StatefulSet, 'lost')).toBe(true)
      expect(await left()).toEqual(before)
      expect(await running.jobList(successor)).toEqual(['create completed', 'delete completed'])
    })
  })
})
