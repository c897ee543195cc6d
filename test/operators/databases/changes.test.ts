import { ConfigMap, PersistentVolume, PodDisruptionBudget, StorageClass } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { onEveryFloorWithDatabases, quoted } from './support.ts'

onEveryFloorWithDatabases('A change of a row', ({ floor, operator }) => {
  const uidsOf = async (name: string) => (await operator().pods(name)).map(({ metadata }) => metadata.uid)
  const imageOf = async (name: string) => (await operator().statefulSet(name)).spec?.template.spec?.containers[0]?.image

  test('replicas follow the row up and down, and the disruption budget comes and goes', async () => {
    const id = await operator().insert('scaled', 'redis')
    await operator().untilStatus(id, 'active')
    expect(await operator().exists(PodDisruptionBudget, 'scaled')).toBe(false)
    await operator().configure(id, { replicas: 3 })
    const row = await operator().untilStatus(id, 'active')
    expect(row['connection_info']).toMatchObject({ replicas: 3, ready_replicas: 3 })
    expect(await operator().pods('scaled')).toHaveLength(3)
    expect(await operator().exists(PodDisruptionBudget, 'scaled')).toBe(true)
    await operator().configure(id, { replicas: 1 })
    await operator().untilStatus(id, 'active')
    await operator().until('one pod is left', async () => (await operator().pods('scaled')).length === 1)
    expect(await operator().exists(PodDisruptionBudget, 'scaled')).toBe(false)
    expect(await operator().claims('scaled')).toHaveLength(3)
    expect(await operator().jobList(id)).toEqual(['create completed', 'scale completed', 'scale completed'])
    const audit = await operator().audit(id)
    expect(audit.map(({ action }) => action)).toEqual(['resource.created', 'resource.scaled', 'resource.scaled'])
    expect(audit[1]?.['details']).toMatchObject({ changes: [{ field: 'replicas', from: 1, to: 3 }] })
    expect(audit[2]?.['details']).toMatchObject({ changes: [{ field: 'replicas', from: 3, to: 1 }] })
  })

  test('changed settings restart the pods', async () => {
    const id = await operator().insert('settings', 'redis')
    await operator().untilStatus(id, 'active')
    const [before] = await uidsOf('settings')
    await operator().configure(id, { settings: { maxclients: 77 } })
    await operator().untilStatus(id, 'active')
    const [after] = await uidsOf('settings')
    expect(after).not.toBe(before)
    const configMap = await floor().api.get(ConfigMap, { name: 'settings-config', namespace: operator().namespace })
    expect(Object.values(configMap.data ?? {}).join('')).toContain('maxclients "77"')
    expect(await operator().jobList(id)).toEqual(['create completed', 'update completed'])
    const [, updated] = await operator().audit(id)
    expect(updated).toMatchObject({ action: 'resource.updated', details: { changes: [{ field: 'settings' }] } })
    expect(JSON.stringify(updated?.['details'])).toContain('maxclients')
  })

  test('changed processors and memory are applied', async () => {
    const id = await operator().insert('resources', 'redis')
    await operator().untilStatus(id, 'active')
    await operator().configure(id, { cpu_request: '250m', memory_limit: '1Gi' })
    await operator().untilStatus(id, 'active')
    const { spec } = await operator().statefulSet('resources')
    expect(spec?.template.spec?.containers[0]?.resources).toMatchObject({
      requests: { cpu: '250m' },
      limits: { memory: '1Gi' },
    })
    const [, updated] = await operator().audit(id)
    const { changes = [] } = (updated?.['details'] ?? {}) as { changes?: readonly { field: string; to: string }[] }
    expect(changes.map(({ field, to }) => [field, to])).toEqual(
      expect.arrayContaining([
        ['cpu_request', '250m'],
        ['memory_limit', '1Gi'],
      ]),
    )
  })

  test('a minor version is applied, a major one is refused until it is allowed', async () => {
    const id = await operator().insert('version', 'postgresql', { image: 'postgres:16.3-alpine' })
    await operator().untilStatus(id, 'active')
    await operator().configure(id, { image: 'postgres:16.4-alpine' })
    await operator().untilStatus(id, 'active')
    expect(await imageOf('version')).toBe('postgres:16.4-alpine')
    const uids = await uidsOf('version')
    await operator().configure(id, { image: 'postgres:17-alpine' })
    const refused = await operator().untilError(id, 'not usable by PostgreSQL 17')
    expect(refused['connection_info']).toMatchObject({ host: `version.${operator().namespace}.svc`, ready_replicas: 1 })
    expect(await imageOf('version')).toBe('postgres:16.4-alpine')
    expect(await uidsOf('version')).toEqual(uids)
    expect(await operator().jobList(id)).toEqual(['create completed', 'update completed', 'update failed'])
    await operator().configure(id, { image: 'postgres:17-alpine', allow_major_upgrade: true })
    const row = await operator().untilStatus(id, 'active')
    expect(row['connection_info']).toMatchObject({ error: null })
    expect(await imageOf('version')).toBe('postgres:17-alpine')
    expect(await operator().actions(id)).toEqual([
      'resource.created',
      'resource.updated',
      'resource.failed',
      'resource.updated',
    ])
  })

  test('a refused change that is taken back leaves an active database', async () => {
    const id = await operator().insert('revoked', 'postgresql', { version: '16' })
    await operator().untilStatus(id, 'active')
    await operator().configure(id, { version: '15' })
    await operator().untilError(id, 'not usable')
    await operator().configure(id, { version: '16' })
    await operator().untilStatus(id, 'active')
    expect(await operator().jobList(id)).toEqual(['create completed', 'update failed'])
  })

  test('storage grows under running pods and never shrinks', async () => {
    const { api } = floor()
    const storageClassName = `growing-${operator().namespace}`
    const provisioner = 'kubernetes.io/no-provisioner'
    await api.create(StorageClass, { metadata: { name: storageClassName }, provisioner, allowVolumeExpansion: true })
    const volumes = [0, 1].map((index) => `${storageClassName}-${index}`)
    for (const name of volumes) {
      await api.create(PersistentVolume, {
        metadata: { name },
        spec: {
          storageClassName,
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1Gi' },
          hostPath: { path: `/tmp/${name}` },
        },
      })
    }
    const config = { storage_size: '1Gi', storage_class: storageClassName, replicas: 2 }
    const id = await operator().insert('grown', 'redis', config)
    await operator().untilStatus(id, 'active')
    const [uids, { metadata }] = [await uidsOf('grown'), await operator().statefulSet('grown')]
    await operator().configure(id, { ...config, storage_size: '2Gi' })
    await operator().untilStatus(id, 'active')
    const sizes = (await operator().claims('grown')).map(({ spec }) => spec?.resources?.requests?.['storage'])
    expect(sizes).toEqual(['2Gi', '2Gi'])
    const after = await operator().statefulSet('grown')
    expect(after.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests).toEqual({ storage: '2Gi' })
    expect(after.metadata.uid).not.toBe(metadata.uid)
    expect(await uidsOf('grown')).toEqual(uids)
    expect(await operator().audit(id)).toMatchObject([
      { action: 'resource.created' },
      {
        action: 'resource.updated',
        details: { changes: [{ field: 'storage_size', from: '1Gi', to: '2Gi' }] },
      },
    ])
    await operator().configure(id, config)
    await operator().untilError(id, 'cannot shrink')
    expect(await uidsOf('grown')).toEqual(uids)
    expect(await operator().jobList(id)).toEqual(['create completed', 'update completed', 'update failed'])
    await api.delete(StorageClass, { name: storageClassName })
    for (const name of volumes) await api.delete(PersistentVolume, { name })
  })

  test('a paused database has no pods, keeps its volume, and comes back', async () => {
    const id = await operator().insert('paused', 'postgresql')
    await operator().untilStatus(id, 'active')
    const [claim] = await operator().claims('paused')
    await operator().update(id, { status: `'paused'` })
    const row = await operator().untilStatus(id, 'paused')
    expect(row['connection_info']).toMatchObject({ replicas: 0, ready_replicas: 0 })
    await operator().until('the pods are gone', async () => (await operator().pods('paused')).length === 0)
    expect((await operator().row(id))['status']).toBe('paused')
    await operator().update(id, { status: `'active'` })
    const resumed = await operator().untilStatus(id, 'active')
    expect(resumed['connection_info']).toMatchObject({ replicas: 1, ready_replicas: 1 })
    expect((await operator().claims('paused')).map(({ metadata }) => metadata.uid)).toEqual([claim?.metadata.uid])
    expect(await operator().jobList(id)).toEqual(['create completed', 'scale completed', 'scale completed'])
  })

  test('a paused database whose row changes stays paused, and has the change when it comes back', async () => {
    const id = await operator().insert('paused-changed', 'redis')
    await operator().untilStatus(id, 'active')
    await operator().update(id, { status: `'paused'` })
    await operator().untilStatus(id, 'paused')
    await operator().configure(id, { settings: { maxclients: 55 } })
    await operator().until('the change is applied', async () => (await operator().jobList(id)).length === 3)
    expect(await operator().untilStatus(id, 'paused')).toMatchObject({ connection_info: { replicas: 0 } })
    await operator().update(id, { status: `'active'` })
    await operator().untilStatus(id, 'active')
    expect(await operator().pods('paused-changed')).toHaveLength(1)
    expect(await operator().jobList(id)).toEqual([
      'create completed',
      'scale completed',
      'update completed',
      'scale completed',
    ])
  })

  test('changes that arrive while a job runs belong to it, with what changed from what', async () => {
    const id = await operator().insert('edited', 'redis')
    await operator().untilStatus(id, 'active')
    await operator().configure(id, { replicas: 2 })
    await operator().until('the job runs', async () => (await operator().jobList(id)).length === 2)
    await operator().configure(id, { replicas: 2, cpu_request: '333m' })
    await operator().untilStatus(id, 'active')
    const jobs = await operator().jobList(id)
    expect(new Set(jobs.map((job) => job.split(' ')[1]))).toEqual(new Set(['completed']))
    const fields = (await operator().audit(id)).flatMap(({ details }) =>
      (details as { changes: readonly { field: string; from: unknown; to: unknown }[] }).changes.map(
        ({ field, from, to }) => `${field} ${String(from)} ${String(to)}`,
      ),
    )
    expect(fields).toContain('replicas 1 2')
    expect(fields.find((field) => field.endsWith('333m'))).toBeDefined()
    const audited = (await operator().actions(id)).at(-1)
    expect(audited).toBe('resource.updated')
  })

  test('a column that another writer changes while the operator works is kept', async () => {
    const id = await operator().insert(
      'shared',
      'redis',
      {},
      { connection_info: quoted('{"note": "of the platform"}') },
    )
    await operator().until('the operator has begun', async () => (await operator().jobList(id)).length > 0)
    await operator().update(id, { connection_info: `connection_info || '{"second": "note"}'` })
    const row = await operator().untilStatus(id, 'active')
    expect(row['connection_info']).toMatchObject({ note: 'of the platform', second: 'note', ready_replicas: 1 })
  })
})
