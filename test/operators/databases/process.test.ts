import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { Lease, StatefulSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { monotonic } from '../../cluster/programs-under-test/child.ts'
import { onEveryFloor } from '../../floors/index.ts'
import { OperatorProcess } from './operator-process.ts'
import { RunningDatabases } from './support.ts'

const MAX_STOP_MS = 30_000
const LEASE = 'nest-controller-leader'
const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor(
    'A process of the operator',
    (floor) => {
      let postgres: TestPostgres
      let operator: RunningDatabases | undefined
      /** The last one that was started. */
      let process: OperatorProcess
      let leaderElectionNamespace = ''

      beforeEach(async () => {
        postgres = await TestPostgres.start(flavor ?? 'system')
        leaderElectionNamespace = await floor().namespace('process')
      }, 120_000)
      afterEach(async () => {
        await operator?.stop()
        await postgres.stop()
      }, 120_000)

      async function start(): Promise<RunningDatabases> {
        operator = await RunningDatabases.start(floor(), postgres, {
          settings: { leaderElectionNamespace },
          runOperator: async (settings) => (process = await OperatorProcess.start(floor(), settings)),
        })
        await untilReady(operator)
        return operator
      }

      async function untilReady(running: RunningDatabases): Promise<void> {
        await running.until('the process is ready', async () => {
          if (process.child.hasEnded) throw new Error(`The process has ended: ${process.child.output}`)
          return (await process.ask('/readyz'))?.status === 200
        })
      }

      async function holder(): Promise<string | undefined> {
        const lease = await floor().api.get(Lease, { name: LEASE, namespace: leaderElectionNamespace })
        return lease.spec?.holderIdentity
      }

      /** Ends the process as a cluster does. */
      async function terminate(): Promise<void> {
        const begun = monotonic()
        await process.stop()
        expect(monotonic() - begun).toBeLessThan(MAX_STOP_MS)
        expect(await holder()).toBe('')
      }

      test('SIGTERM finishes running work, frees the Lease, and the next process finishes the jobs', async () => {
        const running = await start()
        const platform = await postgres.connect(running.address)
        // Work that begins a job waits for this lock.
        await platform.query('BEGIN; LOCK TABLE provisioning_jobs IN SHARE MODE')
        const ids = new Map<string, string>()
        for (let index = 0; index < 8; index++) {
          const name = `cache-${index}`
          ids.set(name, await running.insert(name, 'redis'))
        }
        const backends = (state: string) =>
          running.sql(`SELECT pid FROM pg_stat_activity WHERE application_name = 'nest-controller' AND ${state}`)
        await running.until(
          'work waits for the lock',
          async () => (await backends(`wait_event_type = 'Lock'`)).length > 0,
        )
        const idle = (await backends(`state = 'idle'`)).map(({ pid }) => pid)

        const stopping = terminate()
        await running.until('the process listens to no changes', async () => {
          const left = await backends('true')
          return !idle.every((pid) => left.some((backend) => backend['pid'] === pid))
        })
        await platform.query('COMMIT')
        await platform.end()
        await stopping
        const begun = await running.sql(
          'SELECT r.name, count(*)::int AS jobs FROM resources r JOIN provisioning_jobs j ON j.resource_id = r.id GROUP BY r.name',
        )
        expect(begun.length).toBeGreaterThan(0)
        for (const { jobs, name } of begun) {
          expect(jobs).toBe(1)
          expect(await running.exists(StatefulSet, String(name))).toBe(true)
        }
        expect(await running.sql(`SELECT 1 FROM provisioning_jobs WHERE status = 'failed'`)).toEqual([])

        await running.run()
        for (const id of ids.values()) {
          await running.untilStatus(id, 'active')
          expect(await running.jobList(id)).toEqual(['create completed'])
          expect(await running.actions(id)).toEqual(['resource.created'])
        }
        await untilReady(running)
        await terminate()
      })

      test('the probes tell whether it lives and is ready, and it stops cleanly without PostgreSQL too', async () => {
        const running = await start()
        expect(await process.ask('/healthz')).toEqual({ status: 200, text: 'ok' })
        expect(await process.ask('/readyz')).toEqual({ status: 200, text: 'ready' })
        await postgres.halt()
        const notReady = () =>
          running.until('the process is not ready', async () => {
            const answer = await process.ask('/readyz')
            return answer?.status === 503 && answer
          })
        expect((await notReady()).text).toMatch(/^database: The connection to PostgreSQL failed/)
        expect(await process.ask('/healthz')).toEqual({ status: 200, text: 'ok' })
        await postgres.start()
        await untilReady(running)
        const id = await running.insert('later', 'redis')
        await running.untilStatus(id, 'active')
        await postgres.halt()
        await notReady()
        await terminate()
        await postgres.start()
        expect(await running.jobList(id)).toEqual(['create completed'])
      })
    },
    { only: ['embedded', 'cluster'] },
  )
})
