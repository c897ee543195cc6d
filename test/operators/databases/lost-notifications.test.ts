import { expect, onTestFinished, test } from 'vitest'
import { onEveryFloorWithDatabases, quoted } from './support.ts'

const SCALED = quoted(JSON.stringify({ replicas: 2 }))

onEveryFloorWithDatabases(
  'A lost notification',
  ({ operator }) => {
    const replicasOf = async (name: string) => (await operator().statefulSet(name)).spec?.replicas

    const untilJobs = (id: string, count: number) =>
      operator().until(`${count} jobs are done`, async () => {
        const jobs = await operator().jobList(id)
        return jobs.length === count && jobs.every((job) => job.endsWith('completed'))
      })

    test('a change is carried out by the next pass, as one job', async () => {
      const { address, postgres } = operator()
      const id = await operator().insert('unheard', 'redis')
      await operator().untilStatus(id, 'active')
      let heard = 0
      const listener = await postgres.connect(address)
      listener.on('notification', () => heard++)
      await listener.query('LISTEN tenure_resources')
      // Writers believe that a reader polls, as after a crash of one that did, and notify no one.
      await operator().sql(
        `SELECT setval('tenure_polling_until', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 900);
         UPDATE resources SET config = config || ${SCALED} WHERE id = ${id}`,
      )
      await operator().untilStatus(id, 'active')
      expect(await replicasOf('unheard')).toBe(2)
      await listener.end()
      expect(heard).toBe(0)
      expect(await operator().jobList(id)).toEqual(['create completed', 'scale completed'])
      expect(await operator().actions(id)).toEqual(['resource.created', 'resource.scaled'])
    })

    test('rows that change while the triggers are disabled are found by the next pass', async () => {
      await operator().sql('ALTER TABLE resources DISABLE TRIGGER USER')
      onTestFinished(async () => void (await operator().sql('ALTER TABLE resources ENABLE TRIGGER USER')))
      const id = await operator().insert('silent', 'redis')
      await operator().untilStatus(id, 'active')
      await operator().update(id, { config: `config || ${SCALED}` })
      await untilJobs(id, 2)
      expect(await replicasOf('silent')).toBe(2)
      await operator().update(id, { status: `'paused'` })
      await untilJobs(id, 3)
      expect(await operator().pods('silent')).toEqual([])
      await operator().update(id, { deleted_at: 'now()' })
      await operator().untilStatus(id, 'deleted')
      expect(await operator().row(id)).toMatchObject({ generation: '1' })
      expect(await operator().jobList(id)).toEqual([
        'create completed',
        'scale completed',
        'scale completed',
        'delete completed',
      ])
      expect(await operator().actions(id)).toHaveLength(4)
    })
  },
  { start: { settings: { reconcileInterval: 1_000 } } },
)
