import { describe, expect, test } from 'vitest'
import {
  type ApplicationManifest,
  EMPTY_FIELDS,
  fieldsOf,
  manifestOf,
  problemsByField,
  scaled,
} from './application-manifest.ts'

const manifest: ApplicationManifest = {
  apiVersion: 'cloudnative.elide.dev/v1',
  kind: 'Application',
  metadata: { name: 'web', namespace: 'shop', resourceVersion: '7' },
  spec: {
    replicas: 2,
    image: 'nginx:1.29',
    config: { MODE: 'fast', TEXT: 'two\nlines', QUOTED: '"x"' },
    ports: [{ name: 'http', port: 80, targetPort: 8080 }, { port: 443 }],
    resources: { requests: { cpu: '250m', 'ephemeral-storage': '1Gi' }, limits: { memory: '1Gi' } },
    probes: { liveness: { tcpSocket: { port: 80 } } },
  },
}

describe('editing', () => {
  test('fields that did not change leave the manifest as it is', () => {
    expect(manifestOf(fieldsOf(manifest), manifest)).toEqual(manifest)
  })

  test('a changed field keeps what the form does not show', () => {
    const fields = { ...fieldsOf(manifest), replicas: '3', ports: '80:9090', cpu: '', memory: '64Mi' }
    expect(manifestOf(fields, manifest).spec).toEqual({
      ...manifest.spec,
      replicas: 3,
      ports: [{ name: 'http', port: 80, targetPort: 9090 }],
      resources: { requests: { memory: '64Mi', 'ephemeral-storage': '1Gi' }, limits: { memory: '1Gi' } },
    })
  })

  test('an added line of configuration keeps values with line breaks', () => {
    const fields = fieldsOf(manifest)
    const changed = manifestOf({ ...fields, config: `${fields.config}\nNEW=a=b` }, manifest)
    expect(changed.spec['config']).toEqual({ MODE: 'fast', TEXT: 'two\nlines', QUOTED: '"x"', NEW: 'a=b' })
  })

  test('an emptied field is removed', () => {
    const { spec } = manifestOf({ ...fieldsOf(manifest), config: ' ', ports: '' }, manifest)
    expect(Object.keys(spec)).not.toContain('config')
    expect(Object.keys(spec)).not.toContain('ports')
  })
})

test('a new manifest contains only what was filled in', () => {
  const fields = { ...EMPTY_FIELDS, name: ' web ', image: 'nginx', ports: '80, 8443:443' }
  expect(manifestOf(fields)).toEqual({
    apiVersion: 'cloudnative.elide.dev/v1',
    kind: 'Application',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      image: 'nginx',
      replicas: 1,
      strategy: 'RollingUpdate',
      ports: [{ port: 80 }, { port: 8443, targetPort: 443 }],
    },
  })
})

test('what is not a number is sent as it is, for the API to judge', () => {
  expect(manifestOf({ ...EMPTY_FIELDS, replicas: 'many' }).spec['replicas']).toBe('many')
  expect(scaled(manifest, '5').spec['replicas']).toBe(5)
})

test('problems are shown at their fields, and the rest together', () => {
  const { fields, others } = problemsByField([
    { field: 'spec.replicas', message: 'at most 100' },
    { field: 'spec.ports[1].port', message: 'at least 1' },
    { field: 'spec.ports', message: 'too many' },
    { field: 'spec.imagePullPolicy', message: 'unknown field' },
  ])
  expect(fields).toEqual({ replicas: 'at most 100', ports: '[1].port: at least 1; too many' })
  expect(others).toEqual([{ field: 'spec.imagePullPolicy', message: 'unknown field' }])
})
