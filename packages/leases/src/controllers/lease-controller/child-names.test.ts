import { readFileSync } from 'node:fs'
import { assert, property, stringMatching, uniqueArray } from 'fast-check'
import { expect, test } from 'vitest'
import { LEASE_OPERATOR } from '../../rbac.ts'
import { childNames } from './child-names.ts'

const DNS_LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/
/** Names of objects: DNS names of up to 253 characters. */
const objectName = stringMatching(/^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,3}$/)

test('names are readable where possible', () => {
  expect(childNames('deployment-controller')).toEqual({
    base: 'object-lease-deployment-controller',
    health: 'object-lease-deployment-controller-health',
    metrics: 'object-lease-deployment-controller-metrics',
    report: 'object-lease-deployment-controller-report',
  })
})

test("no LeaseController overwrites the operator's own objects", () => {
  const deployed = ['lease-controllers.yaml', 'lease-admission.yaml'].flatMap((file) => {
    const manifest = readFileSync(new URL(`../../../../../deploy/${file}`, import.meta.url), 'utf8')
    return Array.from(manifest.matchAll(/^  name: (\S+)$/gm), ([, name = '']) => name)
  })
  expect(deployed).toContain(LEASE_OPERATOR)
  for (const name of deployed) {
    const names = childNames(name.replace('object-lease-', ''))
    expect(deployed.filter((taken) => Object.values(names).includes(taken))).toEqual([])
  }
})

test('every name is a DNS label, and no two LeaseControllers share one', () => {
  assert(
    property(uniqueArray(objectName, { minLength: 2, maxLength: 6 }), (names) => {
      const all = names.flatMap((name) => Object.values(childNames(name)))
      for (const name of all) expect(name).toMatch(DNS_LABEL)
      for (const key of ['base', 'health', 'metrics', 'report'] as const) {
        const ofKey = names.map((name) => childNames(name)[key])
        expect(new Set(ofKey).size).toBe(ofKey.length)
      }
    }),
  )
})

test('names that differ only where they are cut stay distinct', () => {
  const long = 'x'.repeat(80)
  const bases = ['a.b', 'a-b', `${long}1`, `${long}2`].map((name) => childNames(name).base)
  expect(new Set(bases).size).toBe(4)
  expect(Math.max(...bases.map(({ length }) => length))).toBeLessThanOrEqual(63)
})
