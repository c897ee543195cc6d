import { Secret } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { onEveryFloorWithDatabases } from './support.ts'

onEveryFloorWithDatabases(
  'A StatefulSet of another program',
  ({ operator }) => {
    const uidsOf = async (name: string) => (await operator().pods(name)).map(({ metadata }) => metadata.uid)

    test('it is adopted without a restart of its pods, and follows the row from then on', async () => {
      await operator().createStatefulSet('legacy')
      const uids = await uidsOf('legacy')
      const id = await operator().insert('legacy', 'redis')
      const row = await operator().untilStatus(id, 'active')
      expect(row['connection_info']).toMatchObject({ service_name: 'legacy-legacy', secret_name: null })
      expect(await uidsOf('legacy')).toEqual(uids)
      expect((await operator().statefulSet('legacy')).metadata.labels).toMatchObject({ 'resource-id': id })
      expect(await operator().exists(Secret, 'legacy-credentials')).toBe(false)
      await operator().configure(id, { image: 'redis:7.2-alpine', cpu_request: '120m' })
      await operator().untilStatus(id, 'active')
      const { spec } = await operator().statefulSet('legacy')
      expect(spec?.template.spec?.containers[0]).toMatchObject({
        image: 'redis:7.2-alpine',
        resources: { requests: { cpu: '120m' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      })
      await operator().configure(id, { image: 'redis:7.2-alpine', cpu_request: '120m', replicas: 2 })
      await operator().untilStatus(id, 'active')
      expect(await operator().pods('legacy')).toHaveLength(2)
      expect(await operator().jobList(id)).toEqual(['create completed', 'update completed', 'scale completed'])
      await operator().update(id, { deleted_at: 'now()' })
      await operator().untilStatus(id, 'deleted')
      expect(await operator().pods('legacy')).toEqual([])
      expect(await operator().claims('legacy')).toHaveLength(2)
    })

    test('one without a volume is refused and left alone, until the row allows to recreate it', async () => {
      await operator().createStatefulSet('volatile', { hasVolume: false })
      const uids = await uidsOf('volatile')
      const id = await operator().insert('volatile', 'redis')
      await operator().untilError(id, 'has no volume')
      expect(await uidsOf('volatile')).toEqual(uids)
      expect((await operator().statefulSet('volatile')).metadata.labels?.['resource-id']).toBeUndefined()
      await operator().configure(id, { migrate: true })
      const row = await operator().untilStatus(id, 'active')
      expect(row['connection_info']).toMatchObject({ secret_name: 'volatile-credentials' })
      expect(await uidsOf('volatile')).not.toEqual(uids)
      expect(await operator().claims('volatile')).toHaveLength(1)
      expect(await operator().jobList(id)).toEqual(['create failed', 'create completed'])
    })

    test('one that was refused is left alone when its row is deleted', async () => {
      await operator().createStatefulSet('foreign', { hasVolume: false })
      const uids = await uidsOf('foreign')
      const id = await operator().insert('foreign', 'redis', { delete_data: true })
      await operator().untilError(id, 'has no volume')
      await operator().update(id, { deleted_at: 'now()' })
      await operator().untilStatus(id, 'deleted')
      expect(await uidsOf('foreign')).toEqual(uids)
    })
  },
  {
    prepare: async (operator) => {
      // The first database makes the namespace.
      await operator.untilStatus(await operator.insert('first', 'redis'), 'active')
    },
  },
)
