import { readFileSync } from 'node:fs'
import { isNotFound, type KubeObject } from '@tenure/kube'
import { Deployment, Namespace } from '@tenure/kube/kinds'
import { LeaseController, leaseControllers } from '@tenure/leases'
import { loadAll } from 'js-yaml'
import { expect, test } from 'vitest'
import { InProcessFloor } from '../floors/index.ts'

const HOUR_MS = 3_600_000
const file = new URL('../../docs/examples/leases/preview.yaml', import.meta.url)

test(
  'the preview environment of the guide ends after two days, with everything in it',
  { timeout: 120_000 },
  async () => {
    const [controller, namespace] = loadAll(readFileSync(file, 'utf8')) as readonly KubeObject[]
    const floor = await InProcessFloor.enter()
    try {
      const { api } = floor
      await floor.runOperators({ operators: [leaseControllers], webhooks: 'none', leaderElection: false })
      await floor.until('the LeaseController is accepted', () =>
        api.apply(LeaseController, controller as LeaseController).catch(() => undefined),
      )
      await api.apply(Namespace, namespace as Namespace)
      const web = { name: 'web', namespace: 'pull-42' }
      const labels = { app: 'web' }
      await api.create(Deployment, {
        metadata: web,
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
        },
      })
      const expiry = await floor.until('the lease has an end', async () => {
        const { metadata } = await api.get(Namespace, { name: 'pull-42' })
        return metadata.annotations?.['object-lease-controller.ullberg.us/expire-at']
      })
      expect(Date.parse(expiry) - floor.clock.now()).toBeGreaterThan(47 * HOUR_MS)
      for (let hours = 0; hours < 47; hours++) await floor.pass(HOUR_MS)
      await api.get(Deployment, web)
      for (let hours = 0; hours < 2; hours++) await floor.pass(HOUR_MS)
      await floor.until('the Namespace is gone', () =>
        api.get(Namespace, { name: 'pull-42' }).then(
          () => false,
          (error: unknown) => isNotFound(error),
        ),
      )
      await expect(api.get(Deployment, web)).rejects.toMatchObject({ code: 'TENURE_API_NOT_FOUND' })
    } finally {
      await floor.leave()
    }
  },
)
