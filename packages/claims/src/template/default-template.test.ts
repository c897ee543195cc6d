import { readFileSync } from 'node:fs'
import { asArray, asJsonObject, valueAtPath } from '@tenure/kube/model'
import { expect, test } from 'vitest'
import { poolTemplate } from './pool-template.ts'
import type { RenderedClaim } from './types.ts'

const read = (name: string): string => readFileSync(new URL(`../../config/template/${name}`, import.meta.url), 'utf8')

const randomBytes = (count: number): Uint8Array => new Uint8Array(count)

function rendered(values = read('values.yaml')): RenderedClaim {
  const options = {
    templateText: read('resources.yaml'),
    valuesText: values,
    namespace: 'tests',
    now: () => 0,
    randomBytes,
  }
  return poolTemplate(options).render({ id: 'k7x2' })
}

test('the default template renders a Pod and a Service, and returns the address of the Service', () => {
  const { resources, returnValues } = rendered()
  expect(returnValues).toEqual({ fqdn: 'claim-k7x2.tests.svc.cluster.local' })
  expect(resources.map(({ isLazy }) => isLazy)).toEqual([false, false])
  const [pod, service] = resources.map(({ manifest }) => manifest)
  expect(pod).toMatchObject({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'claim-k7x2', namespace: 'tests' },
    spec: {
      containers: [
        { image: 'nginx:1.27-alpine', ports: [{ name: 'http', containerPort: 80 }], resources: expect.anything() },
      ],
    },
  })
  expect(service).toMatchObject({ kind: 'Service', metadata: { name: 'claim-k7x2' } })
  const selector = valueAtPath(service, 'spec', 'selector')
  expect(selector).toEqual({ 'app.kubernetes.io/instance': 'claim-k7x2' })
  expect(pod?.metadata['labels']).toMatchObject(asJsonObject(selector))
})

test('the default template takes labels and environment variables from its values', () => {
  const values = `${read('values.yaml').replaceAll(/^(env|labels|readinessPath):.*$/gm, '')}\nlabels: {team: "7"}\nenv: {MODE: true}\n`
  const { resources } = rendered(values)
  expect(resources.map(({ manifest }) => manifest.metadata['labels'])).toEqual([
    expect.objectContaining({ team: '7' }),
    expect.objectContaining({ team: '7' }),
  ])
  const [container] = asArray(valueAtPath(resources[0]?.manifest, 'spec', 'containers'))
  expect(container).toMatchObject({ env: [{ name: 'MODE', value: 'true' }] })
  expect(container).not.toHaveProperty('readinessProbe')
})
