import { mergePatch } from '@tenure/kube'
import { ClusterRole } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
const part = (name: string, labels: Readonly<Record<string, string>>, ...resources: readonly string[]) =>
  fixture.api.create<ClusterRole>(ClusterRole, { metadata: { name, labels }, rules: resources.map(rule) })
const resources = async (): Promise<readonly string[]> =>
  ((await fixture.get(ClusterRole, 'whole'))?.rules ?? []).flatMap((one) => one.resources ?? [])

test('an aggregated ClusterRole has the rules of the roles that it selects, and follows them', async () => {
  await part('b', { to: 'whole' }, 'pods', 'secrets')
  await part('a', { to: 'whole' }, 'secrets')
  await part('c', { also: 'yes' }, 'nodes', 'pods')
  await part('other', { to: 'other' }, 'events')
  await fixture.api.create<ClusterRole>(ClusterRole, {
    metadata: { name: 'whole', labels: { to: 'whole' } },
    aggregationRule: {
      clusterRoleSelectors: [
        { matchLabels: { to: 'whole' } },
        { matchExpressions: [{ key: 'also', operator: 'Exists' }] },
      ],
    },
    rules: [rule('configmaps')],
  })
  await fixture.settle()
  expect(await resources()).toEqual(['secrets', 'pods', 'nodes'])
  const [entry] =
    (await fixture.get(ClusterRole, 'whole'))?.metadata.managedFields?.filter(
      ({ operation }) => operation === 'Apply',
    ) ?? []
  expect(entry?.manager).toBe('clusterrole-aggregation-controller')

  await fixture.api.delete(ClusterRole, { name: 'c' })
  await part('d', { to: 'whole' }, 'services')
  await fixture.settle()
  expect(await resources()).toEqual(['secrets', 'pods', 'services'])

  // Rules that others write are replaced.
  await fixture.api.patch(ClusterRole, { name: 'whole' }, mergePatch({ rules: [rule('configmaps')] }))
  await fixture.settle()
  expect(await resources()).toEqual(['secrets', 'pods', 'services'])
})
