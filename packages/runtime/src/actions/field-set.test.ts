import { describe, expect, test } from 'vitest'
import { isApplied, projection } from './field-set.ts'

// As recorded by a real kube-apiserver for an applied Deployment.
const fields = {
  'f:metadata': {
    'f:labels': { 'f:app': {} },
    'f:ownerReferences': { 'k:{"uid":"u1"}': {} },
    'f:finalizers': { 'v:"a/b"': {} },
  },
  'f:spec': {
    'f:replicas': {},
    'f:selector': {},
    'f:template': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"web"}': {
            '.': {},
            'f:args': {},
            'f:image': {},
            'f:name': {},
            'f:ports': {
              'k:{"containerPort":53,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
              'k:{"containerPort":53,"protocol":"UDP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
            },
          },
          'k:{"name":"side"}': { '.': {}, 'f:image': {}, 'f:name': {} },
        },
      },
    },
  },
}
const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u1', controller: true }
const desired = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    labels: { app: 'web' },
    ownerReferences: [owner],
    finalizers: ['a/b'],
  },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    paused: undefined,
    template: {
      spec: {
        containers: [
          {
            name: 'web',
            image: 'nginx',
            args: ['-a', '-b'],
            ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }],
          },
          { name: 'side', image: 'envoy' },
        ],
      },
    },
  },
}
const live = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'd1',
    generation: 3,
    labels: { app: 'web', theirs: 'too' },
    ownerReferences: [{ ...owner, uid: 'u0' }, owner],
    finalizers: ['theirs', 'a/b'],
  },
  spec: {
    replicas: 2,
    revisionHistoryLimit: 10,
    selector: { matchLabels: { app: 'web' } },
    template: {
      spec: {
        restartPolicy: 'Always',
        containers: [
          {
            name: 'web',
            image: 'nginx',
            args: ['-a', '-b'],
            imagePullPolicy: 'Always',
            ports: [
              { containerPort: 53, protocol: 'TCP' },
              { containerPort: 53, protocol: 'UDP' },
            ],
          },
          { name: 'injected', image: 'x' },
          { name: 'side', image: 'envoy' },
        ],
      },
    },
  },
  status: { replicas: 2 },
}

/** A deep copy with one change, by a function on the copy. */
function changed<T>(value: T, change: (copy: T) => void): T {
  const copy = structuredClone(value)
  change(copy)
  return copy
}

const containersOf = (object: typeof live): Record<string, unknown>[] => object.spec.template.spec.containers

describe('isApplied', () => {
  test('an object is applied although others added fields, items and defaults', () => {
    expect(isApplied(fields, desired, live)).toBe(true)
  })

  test.each<[string, (copy: typeof live) => void]>([
    ['a scalar', (copy) => (copy.spec.replicas = 3)],
    ['an atomic map', (copy) => Object.assign(copy.spec.selector.matchLabels, { more: 'x' })],
    ['an atomic list', (copy) => Object.assign(containersOf(copy)[0] ?? {}, { args: ['-b', '-a'] })],
    ['a label of ours', (copy) => (copy.metadata.labels.app = 'other')],
    ['a field of a list item', (copy) => Object.assign(containersOf(copy)[2] ?? {}, { image: 'other' })],
    ['a list item that is gone', (copy) => containersOf(copy).splice(2)],
    ['a set item that is gone', (copy) => copy.metadata.finalizers.splice(1)],
    ['our owner reference', (copy) => Object.assign(copy.metadata.ownerReferences[1] ?? {}, { controller: false })],
    ['the order of our items', (copy) => containersOf(copy).unshift(...containersOf(copy).splice(1))],
  ])('an object is not applied if another writer changed %s', (_, change) => {
    expect(isApplied(fields, desired, changed(live, change))).toBe(false)
  })

  test.each<[string, (copy: Record<string, Record<string, unknown>>) => void]>([
    ['wants a field more', (copy) => Object.assign(copy['spec'] ?? {}, { minReadySeconds: 5 })],
    [
      'wants a field that live has, but is not ours',
      (copy) => Object.assign(copy['spec'] ?? {}, { revisionHistoryLimit: 10 }),
    ],
    ['wants a field less', (copy) => delete copy['spec']?.['replicas']],
    ['wants a label more', (copy) => Object.assign(copy['metadata'] ?? {}, { labels: { app: 'web', more: 'x' } })],
    ['wants no finalizer', (copy) => delete copy['metadata']?.['finalizers']],
    ['wants another type of thing', (copy) => Object.assign(copy['spec'] ?? {}, { template: 'text' })],
    ['wants nothing', (copy) => delete copy['spec']],
  ])('an object is not applied if the plan now %s', (_, change) => {
    const other = changed(desired as unknown as Record<string, Record<string, unknown>>, change)
    expect(isApplied(fields, other, live)).toBe(false)
  })

  test('an object with nothing but a name owns nothing', () => {
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b', labels: undefined } }
    expect(isApplied({}, bare, { ...bare, data: { theirs: 'x' } })).toBe(false)
    expect(
      isApplied(
        { 'f:metadata': { 'f:labels': { '.': {} } } },
        { ...bare, metadata: { labels: {} } },
        { metadata: { labels: { theirs: 'x' } } },
      ),
    ).toBe(true)
  })
})

test('an owned value that the server dropped because it is empty counts as applied', () => {
  const owned = { 'f:spec': { 'f:text': {}, 'f:labels': {}, 'f:count': {}, 'f:limits': { 'f:cpu': {} } } }
  const wanted = { spec: { text: '', labels: {}, count: 0, limits: { cpu: '1000m' } } }
  expect(isApplied(owned, wanted, { spec: { limits: { cpu: '1000m' } } })).toBe(true)
  expect(isApplied(owned, wanted, { spec: { limits: { cpu: '1' } } })).toBe(false)
  expect(isApplied(owned, wanted, { spec: { limits: { cpu: '1' } } }, true)).toBe(true)
  expect(isApplied(owned, { spec: { ...wanted.spec, text: 'x' } }, { spec: { limits: { cpu: '1' } } }, true)).toBe(
    false,
  )
  expect(isApplied(owned, wanted, { spec: { count: 1, limits: { cpu: '1' } } }, true)).toBe(false)
})

describe('projection', () => {
  test('a projection contains the owned fields only', () => {
    const before = projection(fields, live)
    expect(
      projection(
        fields,
        changed(live, (copy) => (copy.spec.revisionHistoryLimit = 3)),
      ),
    ).toBe(before)
    expect(
      projection(
        fields,
        changed(live, (copy) => (copy.metadata.labels.theirs = 'other')),
      ),
    ).toBe(before)
    expect(
      projection(
        fields,
        changed(live, (copy) => (copy.spec.replicas = 3)),
      ),
    ).not.toBe(before)
    expect(
      projection(
        fields,
        changed(live, (copy) => copy.metadata.finalizers.pop()),
      ),
    ).not.toBe(before)
    expect(projection(fields, undefined)).not.toBe(before)
  })

  test('a missing field differs from an empty one', () => {
    const labels = { 'f:metadata': { 'f:labels': { 'f:app': {} } } }
    expect(projection(labels, { metadata: { labels: { app: '' } } })).not.toBe(projection(labels, { metadata: {} }))
  })
})

/** Items whose key counts how often it is read. */
function counted(length: number) {
  let reads = 0
  const items = Array.from({ length }, (_, index) => ({
    get name() {
      reads++
      return `N${index}`
    },
    value: 'x',
  }))
  return { items, reads: () => reads }
}

describe('long lists', () => {
  test('the work grows in proportion to the length of the list', () => {
    const length = 5_000
    const owned = Object.fromEntries(
      Array.from({ length }, (_, index) => [`k:{"name":"N${index}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
    )
    const [wanted, stored] = [counted(length), counted(length)]
    expect(isApplied({ 'f:env': owned }, { env: wanted.items }, { env: stored.items })).toBe(true)
    projection({ 'f:env': owned }, { env: stored.items })
    expect(wanted.reads() + stored.reads()).toBeLessThan(20 * length)
  })

  test('items that leave out a key with a default are each found once, in order', () => {
    const names = [53, 80, 53].map((port, index) => `k:{"port":${port},"protocol":"${index === 2 ? 'UDP' : 'TCP'}"}`)
    const owned = { 'f:ports': Object.fromEntries(names.map((name) => [name, { '.': {}, 'f:port': {} }])) }
    const stored = [
      { port: 53, protocol: 'TCP' },
      { port: 80, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ]
    const same = (ports: readonly object[]): boolean => isApplied(owned, { ports }, { ports: stored })
    expect(same([{ port: 53 }, { port: 80 }, { port: 53 }])).toBe(true)
    expect(same([{ port: 53 }, { port: 80 }])).toBe(false)
    expect(same([{ port: 80 }, { port: 53 }, { port: 53 }])).toBe(false)
  })

  test('set items are found whatever the order of their fields', () => {
    const owned = { 'f:set': { 'v:{"a":1,"b":[2]}': {}, 'v:"1"': {}, 'v:1': {} } }
    const stored = { set: [{ b: [2], a: 1 }, '1', 1] }
    expect(isApplied(owned, { set: [{ a: 1, b: [2] }, '1', 1] }, stored)).toBe(true)
    expect(isApplied(owned, { set: [{ a: 1, b: [2] }, 1, '1'] }, stored)).toBe(false)
  })
})
