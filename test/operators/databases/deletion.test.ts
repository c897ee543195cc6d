import { mergePatch } from '@tenure/kube'
import { ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { onEveryFloorWithDatabases } from './support.ts'

onEveryFloorWithDatabases(
  'A deleted row',
  ({ floor, operator }) => {
    const softDelete = async (id: string) => {
      await operator().update(id, { deleted_at: 'now()' })
      return operator().untilStatus(id, 'deleted')
    }
    const uidsOf = async (name: string) => (await operator().pods(name)).map(({ metadata }) => metadata.uid)

    test('the volume stays, or goes with delete_data', async () => {
      const kept = await operator().insert('kept', 'redis')
      const dropped = await operator().insert('dropped', 'redis', { delete_data: true })
      await operator().untilStatus(kept, 'active')
      await operator().untilStatus(dropped, 'active')
      await softDelete(kept)
      await softDelete(dropped)
      expect(await operator().claims('kept')).toHaveLength(1)
      expect(await operator().claims('dropped')).toEqual([])
      for (const kind of [StatefulSet, Service, ConfigMap, Secret, Pod]) {
        const { items } = await floor().api.list(kind, { namespace: operator().namespace })
        const names = items.map(({ metadata }) => metadata.name).filter((name) => /^(?:kept|dropped)/.test(name))
        expect(names).toEqual([])
      }
    })

    test('delete_data removes only the claims of the database, whatever has its label', async () => {
      const { api } = floor()
      const { namespace } = operator()
      const id = await operator().insert('labelled', 'redis', { delete_data: true })
      await operator().untilStatus(id, 'active')
      const labels = { app: 'labelled' }
      const stranger = { metadata: { name: 'uploads', namespace, labels } }
      const [claim] = await operator().claims('labelled')
      await api.create(PersistentVolumeClaim, {
        ...stranger,
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      })
      await api.create(Pod, { ...stranger, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } })
      await softDelete(id)
      expect((await operator().claims('labelled')).map(({ metadata }) => metadata.name)).toEqual(['uploads'])
      expect((await operator().pods('labelled')).map(({ metadata }) => metadata.name)).toEqual(['uploads'])
      expect(claim?.metadata.name).toBe('data-labelled-0')
    })

    test('a new row gets the name of one that is being deleted, without an error', async () => {
      const first = await operator().insert('reused', 'redis')
      await operator().untilStatus(first, 'active')
      await operator().update(first, { deleted_at: 'now()' })
      const second = await operator().insert('reused', 'redis')
      await operator().untilStatus(first, 'deleted')
      await operator().untilStatus(second, 'active')
      expect(await operator().jobList(first)).toEqual(['create completed', 'delete completed'])
      expect(await operator().jobList(second)).toEqual(['create completed'])
      expect((await operator().statefulSet('reused')).metadata.labels).toMatchObject({ 'resource-id': second })
    })

    test('a waiting second row gets the name when the first is deleted', async () => {
      const first = await operator().insert('waiting', 'redis')
      await operator().untilStatus(first, 'active')
      const second = await operator().insert('waiting', 'redis')
      await operator().untilError(second, 'already has the name')
      await softDelete(first)
      await operator().untilStatus(second, 'active')
      expect(await operator().jobList(second)).toEqual(['create failed', 'create completed'])
    })

    test('a new row does not open the kept volume of a deleted one, and does not delete it either', async () => {
      const first = await operator().insert('archive', 'postgresql')
      await operator().untilStatus(first, 'active')
      await softDelete(first)
      const second = await operator().insert('archive', 'postgresql', { delete_data: true })
      await operator().untilError(second, 'The volume claim data-archive-0 of an earlier database exists')
      await softDelete(second)
      expect(await operator().claims('archive')).toHaveLength(1)
    })

    test('a row that is deleted during its creation leaves no running job', async () => {
      const id = await operator().insert('brief', 'redis')
      await operator().until('the job runs', async () => (await operator().jobList(id)).length > 0)
      await softDelete(id)
      expect(await operator().pods('brief')).toEqual([])
      const jobs = await operator().jobList(id)
      expect(jobs.at(-1)).toBe('delete completed')
      expect(jobs.filter((job) => job.endsWith('running'))).toEqual([])
    })

    test('a deletion that is taken back while it runs ends with a running database', async () => {
      const { api } = floor()
      const { namespace } = operator()
      const id = await operator().insert('regretted', 'redis')
      await operator().untilStatus(id, 'active')
      // The finalizer holds the deletion in the middle.
      const ref = { name: 'regretted-config', namespace }
      await api.patch(ConfigMap, ref, mergePatch({ metadata: { finalizers: ['example.dev/hold'] } }))
      await operator().update(id, { deleted_at: 'now()' })
      await operator().until(
        'the StatefulSet is gone',
        async () => !(await operator().exists(StatefulSet, 'regretted')),
      )
      await operator().until('its pods are gone', async () => (await operator().pods('regretted')).length === 0)
      await operator().update(id, { deleted_at: 'NULL' })
      await operator().until('the deletion has ended', async () =>
        (await operator().jobList(id)).includes('delete failed'),
      )
      await api.patch(ConfigMap, ref, mergePatch({ metadata: { finalizers: null } }))
      await operator().untilStatus(id, 'active')
      expect(await operator().pods('regretted')).toHaveLength(1)
      const jobs = await operator().jobList(id)
      expect(jobs.at(-1)).toBe('update completed')
      expect(jobs.filter((job) => job.endsWith('running'))).toEqual([])
    })

    test('pods that a recreated StatefulSet left behind go with the row', async () => {
      const { api } = floor()
      const { namespace } = operator()
      const id = await operator().insert('orphans', 'redis')
      await operator().untilStatus(id, 'active')
      await operator().stopOperator()
      await api.delete(StatefulSet, { name: 'orphans', namespace }, { propagation: 'Orphan' })
      await operator().until('it is gone', async () => !(await operator().exists(StatefulSet, 'orphans')))
      expect(await operator().pods('orphans')).toHaveLength(1)
      await operator().update(id, { deleted_at: 'now()' })
      await operator().run()
      await operator().untilStatus(id, 'deleted')
      expect(await operator().pods('orphans')).toEqual([])
    })

    test('a row that is deleted from the table leaves its database as it is', async () => {
      const id = await operator().insert('hard', 'redis')
      await operator().untilStatus(id, 'active')
      const uids = await uidsOf('hard')
      await operator().stopOperator()
      await operator().sql(
        `DELETE FROM provisioning_jobs WHERE resource_id = ${id}; DELETE FROM resources WHERE id = ${id}`,
      )
      await operator().run()
      const other = await operator().insert('hard', 'redis')
      await operator().untilError(other, `belongs to the resource ${id}`)
      expect(await uidsOf('hard')).toEqual(uids)
    })
  },
  {
    // No pass hides an event that is missing.
    start: { settings: { reconcileInterval: 36_000_000 } },
  },
)
