import { readFileSync } from 'node:fs'
import { Application, applications } from '@tenure/applications'
import { ConfigMap, Service } from '@tenure/kube/kinds'
import { LeaseController, leaseControllers } from '@tenure/leases'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { InProcessFloor } from '../floors/index.ts'

const example = (name: string): unknown =>
  load(readFileSync(new URL(`../../docs/examples/${name}`, import.meta.url), 'utf8'))

test('the examples of the guides do what the guides say', { timeout: 120_000 }, async () => {
  const floor = await InProcessFloor.enter()
  try {
    const { api } = floor
    await floor.runOperators({ operators: [applications, leaseControllers], webhooks: 'none', leaderElection: false })

    const application = example('application.yaml') as Application
    const ref = { name: 'shop', namespace: 'default' }
    await floor.until('the Application is accepted', () => api.apply(Application, application).catch(() => undefined))
    await floor.until('the Application runs', async () => (await api.get(Application, ref)).status?.phase === 'Running')
    expect((await api.get(Service, ref)).spec?.ports).toMatchObject([{ port: 80, targetPort: 8080 }])
    const { items } = await api.list(ConfigMap, {
      namespace: 'default',
      labelSelector: 'app.kubernetes.io/instance=shop',
    })
    expect(items.map(({ data }) => data)).toEqual([{ GREETING: 'hello' }])

    const controller = example('lease-controllers.yaml') as LeaseController
    await api.apply(LeaseController, controller)
    const waiting = await floor.until('the LeaseController reports its missing kind', async () => {
      const { status } = await api.get(LeaseController, { name: 'certificates' })
      return status?.conditions?.find(({ type }) => type === 'Ready')
    })
    expect(waiting).toMatchObject({ status: 'False', message: expect.stringContaining('Certificate') })
  } finally {
    await floor.leave()
  }
})
