import { readFile } from 'node:fs/promises'
import { isNotFound } from '@tenure/kube'
import { CustomResourceDefinition, Deployment } from '@tenure/kube/kinds'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { Website, websites } from '../../../docs/examples/websites.ts'
import { onEveryFloor } from '../../floors/index.ts'

const definition = load(
  await readFile(new URL('../../../docs/examples/website-crd.yaml', import.meta.url), 'utf8'),
) as CustomResourceDefinition

// On the real cluster, test/cluster/websites.test.ts covers the same and more, with kubectl.
const only = ['in process', 'embedded'] as const

onEveryFloor(
  'the example operator',
  (floor) => {
    test('the operator creates, repairs and finally deletes the Deployment of a Website', async () => {
      const here = floor()
      const { api } = here
      await api.apply(CustomResourceDefinition, definition, { force: true })
      const ref = { name: 'shop', namespace: await here.namespace('websites') }
      await here.runOperators({ operators: [websites], freeze: true })
      await here.until('the definition is served', () =>
        api.create(Website, { metadata: ref, spec: { image: 'nginx', replicas: 2 } }).catch((error: unknown) => {
          if (isNotFound(error)) return false
          throw error
        }),
      )

      await here.until('the Website runs', async () => (await api.get(Website, ref)).status?.phase === 'Running')
      expect(await api.get(Deployment, ref)).toMatchObject({ spec: { replicas: 2 }, status: { readyReplicas: 2 } })

      await api.delete(Deployment, ref)
      const replaced = await here.until('the Deployment is recreated', () =>
        api.get(Deployment, ref).catch(() => undefined),
      )
      expect(replaced.metadata.ownerReferences).toMatchObject([{ kind: 'Website', name: 'shop' }])

      await api.delete(Website, ref)
      await here.until('the Website is gone', () => api.get(Website, ref).then(() => false, isNotFound))
      await here.until('its Deployment is gone', () => api.get(Deployment, ref).then(() => false, isNotFound))
    })
  },
  { only },
)
