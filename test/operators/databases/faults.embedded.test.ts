import { hasPgbouncer, postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { ApiError, mergePatch } from '@tenure/kube'
import { StatefulSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { type RunDatabasesOptions, RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

function apiError(status: number): ApiError {
  return new ApiError(`Made up ${status}`, { status, reason: 'MadeUp' })
}

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor(
    'A fault',
    (floor) => {
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

      test.each(['stop', 'kill'] as const)('a server that ends by %s and returns changes no job', async (manner) => {
        const running = await start()
        const first = await running.insert('before', 'redis')
        await running.until('the job runs', async () => (await running.jobList(first)).length > 0)
        await postgres.halt(manner)
        await floor().pass(2_000)
        await postgres.start()
        await running.untilStatus(first, 'active')
        const second = await running.insert('after', 'redis')
        await running.untilStatus(second, 'active')
        expect(await running.jobList(first)).toEqual(['create completed'])
        expect(await running.actions(first)).toEqual(['resource.created'])
        expect(await running.jobList(second)).toEqual(['create completed'])
      })

      test('connections that an administrator ends, again and again, change no job', async () => {
        const running = await start()
        const id = await running.insert('killed', 'redis')
        for (let round = 0; round < 5; round++) {
          await running.configure(id, { replicas: 1 + (round % 3) })
          await postgres.terminateConnections(running.address)
        }
        await running.untilStatus(id, 'active')
        expect((await running.jobList(id)).filter((job) => !job.endsWith('completed'))).toEqual([])
        expect((await running.actions(id)).length).toBe((await running.jobList(id)).length)
        expect((await running.statefulSet('killed')).spec?.replicas).toBe(2)
      })

      test.skipIf(!hasPgbouncer)('behind a pooler that drops LISTEN, changes are found by polling', async () => {
        const running = await start({
          settings: { reconcileInterval: 36_000_000 },
          through: (address) => postgres.pgbouncer(address),
        })
        const id = await running.insert('pooled', 'redis')
        await running.untilStatus(id, 'active')
        await running.configure(id, { replicas: 2 })
        await running.untilStatus(id, 'active')
        expect(await running.jobList(id)).toEqual(['create completed', 'scale completed'])
        expect((await running.metrics.expose()).text).toMatch(/^nest_db_listen_up 0$/m)
      })

      test('an API server that does not answer for long fails no job', async () => {
        let failures = 0
        const running = await start({
          onStep: ({ phase }) => {
            if (phase === 'before' && ++failures <= 10) throw apiError(failures % 2 === 0 ? 503 : 429)
          },
        })
        const id = await running.insert('unanswered', 'redis')
        await running.untilStatus(id, 'active')
        expect(failures).toBeGreaterThan(10)
        expect(await running.jobList(id)).toEqual(['create completed'])
      })

      test('a write that keeps failing fails its job after MAX_RETRIES, and a later try completes one', async () => {
        let isBroken = true
        let tries = 0
        const running = await start({
          settings: { maxRetries: 2 },
          onStep: ({ action, phase }) => {
            if (!isBroken || phase !== 'before' || action.type !== 'apply' || action.kind !== StatefulSet) return
            tries++
            throw apiError(500)
          },
        })
        const id = await running.insert('refused', 'redis')
        await running.until('the job fails', async () => (await running.jobList(id)).includes('create failed'))
        await running.untilError(id, 'Made up 500')
        const known = tries
        await running.until('it is tried again', () => tries > known + 1)
        expect(await running.jobs(id)).toMatchObject([{ status: 'failed', error_message: 'Made up 500' }])
        isBroken = false
        await running.untilStatus(id, 'active')
        expect(await running.jobList(id)).toEqual(['create failed', 'create completed'])
        expect(await running.actions(id)).toEqual(['resource.failed', 'resource.created'])
      })

      test('pods that fail make the row an error with their reason, and recover', async () => {
        const { api } = floor()
        const running = await start({ settings: { maxRetries: 2 } })
        const id = await running.insert('crashing', 'redis')
        await running.untilStatus(id, 'active')
        const simulate = (failure: string) =>
          api.patch(
            StatefulSet,
            { name: 'crashing', namespace: running.namespace },
            mergePatch({
              spec: { template: { metadata: { annotations: { 'tenure.dev/simulate-pull-failure': failure } } } },
            }),
          )
        await simulate('ImagePullBackOff')
        await running.configure(id, { image: 'redis:7.2-alpine' })
        await running.until('the job fails', async () => (await running.jobList(id)).includes('update failed'))
        await running.untilError(id, 'ImagePullBackOff')
        await simulate('false')
        await running.untilStatus(id, 'active')
        const jobs = await running.jobList(id)
        expect(jobs).toEqual(['create completed', 'update failed', 'update completed'])
      })

      test('of two replicas one works, and the other continues its work without repeating it', async () => {
        const writes = { first: 0, second: 0 }
        const running = await start({ isElected: true, onStep: () => void writes.first++ })
        const replica = await running.runReplica(() => void writes.second++)
        const ids = await Promise.all(['one', 'two', 'three'].map((name) => running.insert(name, 'redis')))
        for (const id of ids) await running.untilStatus(id, 'active')
        expect(writes.second).toBe(0)
        await running.configure(ids[0] ?? '', { replicas: 2 })
        await running.stopOperator()
        for (const id of ids) await running.untilStatus(id, 'active')
        await running.configure(ids[1] ?? '', { replicas: 2 })
        await running.untilStatus(ids[1] ?? '', 'active')
        expect(writes.second).toBeGreaterThan(0)
        const jobs = await Promise.all(ids.map((id) => running.jobList(id)))
        const created = 'create completed'
        expect(jobs).toEqual([[created, 'scale completed'], [created, 'scale completed'], [created]])
        expect((await Promise.all(ids.map((id) => running.actions(id)))).flat()).toHaveLength(5)
        await replica.stop()
      })
    },
    { only: ['in process', 'embedded'] },
  )
})
