import { dbCommands, type DbCliOptions } from '@tenure/databases/cli'
import { systemClock, systemRandom } from '@tenure/kube'
import { PersistentVolumeClaim, Secret, StatefulSet } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { onEveryFloorWithDatabases } from './support.ts'

onEveryFloorWithDatabases('The commands write rows and show their jobs', ({ floor, operator }) => {
  async function db(name: string, operands: readonly string[] = [], options: DbCliOptions = {}) {
    const command = dbCommands.find((candidate) => candidate.name === name)
    if (!command) throw new Error(`no command ${name}`)
    const { host, port, user, password, database } = operator().address
    const output: string[] = []
    const progress: string[] = []
    const environment = {
      DB_HOST: host,
      DB_PORT: String(port),
      DB_USER: user,
      DB_PASSWORD: password?.reveal(),
      DB_NAME: database,
    }
    let code: number | undefined
    const running = command
      .run(
        {
          clock: systemClock,
          random: systemRandom,
          environment,
          write: (text) => void output.push(text),
          warn: (text) => void progress.push(text),
        },
        operands,
        options,
      )
      .then((result) => (code = result))
    await operator().until(`tenure db ${name} ends`, () => code !== undefined)
    await running
    return { code, output: output.join('\n'), progress: progress.join('\n') }
  }

  test('a database is created, changed, paused, resumed and deleted by commands', async () => {
    const { api } = floor()
    const created = await db('create', ['orders'], {
      type: 'valkey',
      team: 'payments',
      storage: '2Gi',
      set: ['settings.maxmemory-policy=allkeys-lru'],
    })
    expect(created).toMatchObject({ code: 0 })
    expect(created.progress).toMatch(/create job \d+ completed$/)
    const namespace = String(
      (await operator().sql(`SELECT k8s_namespace FROM resources WHERE name = 'orders'`))[0]?.['k8s_namespace'],
    )
    expect(created.output).toContain(`database orders is active at orders.${namespace}.svc:6379`)
    expect(created.output).toContain(
      `kubectl get secret orders-credentials -n ${namespace} -o jsonpath='{.data.password}'`,
    )

    const scaled = await db('scale', ['orders'], { replicas: '2', output: 'json' })
    expect(scaled.progress).toMatch(/scale job \d+ completed$/)
    expect(JSON.parse(scaled.output)).toMatchObject({
      name: 'orders',
      team: 'payments',
      status: 'active',
      config: { replicas: 2, storage_size: '2Gi', settings: { 'maxmemory-policy': 'allkeys-lru' } },
      connection_info: { ready_replicas: 2 },
    })
    expect((await api.get(StatefulSet, { name: 'orders', namespace })).spec?.replicas).toBe(2)
    const same = await db('scale', ['orders'], { replicas: '2' })
    expect(same).toMatchObject({ code: 0, progress: '' })

    const set = await db('set', ['orders', 'settings.maxmemory-policy=null', 'memory_limit=512Mi'])
    expect(set.progress).toMatch(/update job \d+ completed$/)
    expect((await operator().sql(`SELECT config FROM resources WHERE name = 'orders'`))[0]).toEqual({
      config: { replicas: 2, storage_size: '2Gi', settings: {}, memory_limit: '512Mi' },
    })

    const paused = await db('pause', ['orders'])
    expect(paused).toMatchObject({ code: 0, output: 'database orders is paused' })
    expect((await api.get(StatefulSet, { name: 'orders', namespace })).spec?.replicas).toBe(0)
    expect(await db('resume', ['orders'])).toMatchObject({ code: 0, output: expect.stringContaining('is active at') })

    const shown = await db('show', ['orders'])
    expect(shown.output).toMatch(/^AUDIT +WHEN +CHANGES$/m)
    expect(shown.output).toMatch(/^resource\.scaled +.*replicas: 1 → 2$/m)
    expect(shown.output).toMatch(/^JOB +TYPE +STATUS +WHEN +MESSAGE$/m)
    const secret = await api.get(Secret, { name: 'orders-credentials', namespace })
    const password = Buffer.from(secret.data?.['password'] ?? '', 'base64').toString()
    expect(password).not.toBe('')
    const json = await db('show', ['orders'], { output: 'json' })
    for (const text of [shown.output, json.output, created.output]) expect(text).not.toContain(password)

    expect(await db('delete', ['orders'])).toMatchObject({ code: 0, output: 'database orders is deleted' })
    await expect(api.get(StatefulSet, { name: 'orders', namespace })).rejects.toThrow('not found')
    expect((await api.list(PersistentVolumeClaim, { namespace })).items.length).toBeGreaterThan(0)
    expect((await db('list')).progress).toBe('No databases found.')
    expect((await db('list', [], { all: true })).output).toMatch(/^orders +payments +valkey +deleted /m)
  })

  test('a change that the operator refuses is a failure with its reason', async () => {
    expect(await db('create', ['billing'], { type: 'redis', version: '7', storage: '2Gi' })).toMatchObject({
      code: 0,
    })
    const shrunk = await db('set', ['billing', 'storage_size=1Gi'])
    expect(shrunk.code).toBe(1)
    expect(shrunk.progress).toMatch(/update job \d+ failed$/m)
    expect(shrunk.progress).toMatch(/1Gi/)
    expect(await db('set', ['billing', 'storage_size=2Gi'])).toMatchObject({ code: 0 })
    expect(await db('set', ['billing', 'version=8'])).toMatchObject({ code: 1 })
    expect(await db('delete', ['billing'], { deleteData: true })).toMatchObject({ code: 0 })
  })

  test('without waiting the command ends with the row as it was written', async () => {
    const result = await db('create', ['later'], { type: 'redis', wait: false, output: 'json' })
    expect(JSON.parse(result.output)).toMatchObject({ name: 'later', team: 'default', status: 'pending' })
    expect(await db('delete', ['later'])).toMatchObject({ code: 0 })
  })
})
