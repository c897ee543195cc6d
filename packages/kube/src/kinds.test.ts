import { readFile } from 'node:fs/promises'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Kind } from './model/kind.ts'
import * as kinds from './kinds.ts'
import { ConfigMap, CoreEvent, Deployment, Event, HorizontalPodAutoscaler, Node } from './kinds.ts'
import type { Container, CustomResourceDefinition, JSONSchemaProps, Lease } from './kinds.ts'

describe('the generated kinds', () => {
  test('the kinds match the discovery of the server', () => {
    expect(Deployment).toEqual({
      group: 'apps',
      version: 'v1',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      plural: 'deployments',
      namespaced: true,
      representation: 'full',
    })
    expect(Node.namespaced).toBe(false)
    expect(HorizontalPodAutoscaler.version).toBe('v2')
    expect(kinds.NetworkPolicy.plural).toBe('networkpolicies')
    expect([Event.apiVersion, CoreEvent.apiVersion, CoreEvent.kind]).toEqual(['events.k8s.io/v1', 'v1', 'Event'])
  })

  test('the kinds are frozen, stable and unique', () => {
    const all = Object.values(kinds) as Kind[]
    expect(all.length).toBeGreaterThan(60)
    expect(all.filter((kind) => !Object.isFrozen(kind) || !/^v\d+$/.test(kind.version))).toEqual([])
    expect(new Set(all.map(({ group, kind }) => `${group}/${kind}`)).size).toBe(all.length)
  })

  test('the types are not loaded at run time', async () => {
    const source = await readFile(new URL('generated/kinds.ts', import.meta.url), 'utf8')
    const imports = source.split('\n').filter((line) => line.includes('./types.ts'))
    expect(imports.length).toBeGreaterThan(0)
    expect(imports.filter((line) => !line.startsWith('import type') && !line.startsWith('} from'))).toEqual([])
    expect(source).toMatch(/^\/\/ Kubernetes v1\.\d+\.\d+\. Written by scripts\/generate-kinds\.ts/)
    expect(source).toMatch(/\nexport type \{\n/)
  })

  test('the types are deeply read-only', () => {
    const web: Deployment = {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
        template: {
          spec: { containers: [{ name: 'web', resources: { limits: { cpu: '100m' } }, imagePullPolicy: 'Always' }] },
        },
      },
    }
    expect(web.spec?.template.spec?.containers).toHaveLength(1)
    expectTypeOf(Deployment).toEqualTypeOf<Kind<Deployment>>()
    expectTypeOf<NonNullable<Container['args']>>().toEqualTypeOf<readonly string[]>()
    expectTypeOf<Container['imagePullPolicy']>().toEqualTypeOf<'Always' | 'IfNotPresent' | 'Never' | undefined>()
    expectTypeOf<NonNullable<ConfigMap['data']>>().toEqualTypeOf<Readonly<Record<string, string>>>()
    expectTypeOf<NonNullable<Lease['spec']>['renewTime']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<JSONSchemaProps['items']>().toEqualTypeOf<JSONSchemaProps | readonly JSONSchemaProps[] | undefined>()
    expectTypeOf<CustomResourceDefinition['spec']['scope']>().toEqualTypeOf<string>()
    expect(ConfigMap.plural).toBe('configmaps')
  })
})
