import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatImage, parseImage } from './image-reference.ts'

const SHA = `sha256:${'0123456789abcdef'.repeat(4)}`

describe('spellings of one image', () => {
  test.each([
    ['ubuntu', 'docker.io/library/ubuntu:latest'],
    ['ubuntu:22.04', 'docker.io/library/ubuntu:22.04'],
    ['library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['docker.io/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['docker.io/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['index.docker.io/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['index.docker.io/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['registry-1.docker.io/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['registry.hub.docker.com/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['DOCKER.IO/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    ['docker.io:443/library/ubuntu', 'docker.io/library/ubuntu:latest'],
    [`ubuntu@${SHA}`, `docker.io/library/ubuntu@${SHA}`],
    [`ubuntu:22.04@${SHA}`, `docker.io/library/ubuntu:22.04@${SHA}`],
    ['myorg/myapp:v1.0.0', 'docker.io/myorg/myapp:v1.0.0'],
    ['gcr.io/project/app', 'gcr.io/project/app:latest'],
    ['localhost/x', 'localhost/x:latest'],
    ['localhost:5000/x:1', 'localhost:5000/x:1'],
    ['LocalHost/x', 'localhost/x:latest'],
    ['localhost:5000', 'docker.io/library/localhost:5000'],
    ['docker.io', 'docker.io/library/docker.io:latest'],
    ['Registry/x', 'registry:443/x:latest'],
    ['registry/x', 'docker.io/registry/x:latest'],
    ['[::1]:5000/a/b', '[::1]:5000/a/b:latest'],
    ['192.168.0.1:8080/a/b/c', '192.168.0.1:8080/a/b/c:latest'],
    ['a__b/c-d.e', 'docker.io/a__b/c-d.e:latest'],
  ])('%s is normalized to %s', (text, normal) => {
    const reference = parseImage(text)
    expect(reference && formatImage(reference)).toBe(normal)
  })
})

test.each([
  '',
  ' ubuntu',
  'ubuntu ',
  'Ubuntu',
  'docker.io/library/Ubuntu',
  'ubuntu:',
  'ubuntu:.x',
  `ubuntu:${'x'.repeat(129)}`,
  'ubuntu@',
  'ubuntu@sha256:abc',
  `ubuntu@${SHA.toUpperCase()}`,
  `ubuntu@md5:${'a'.repeat(32)}`,
  `@${SHA}`,
  'a:b:c',
  '/ubuntu',
  'ubuntu/',
  'a//b',
  '-a/b',
  'a-/b',
  'a___b',
  'docker.io/',
  'gcr.io./x/y',
  '-gcr.io/x',
  'https://docker.io/ubuntu',
  'ubuntu\n',
  'übuntu',
  '0123456789abcdef'.repeat(4),
  `${'a/'.repeat(130)}a`,
  'a'.repeat(100_000),
])('%j is refused, because no runtime could pull it', (text) => {
  expect(parseImage(text)).toBeUndefined()
})

const part = fc.stringMatching(/^[a-z0-9]{1,8}([._-][a-z0-9]{1,8}){0,2}$/)
const anyReference = fc.record({
  host: fc.constantFrom(
    '',
    'gcr.io/',
    'docker.io/',
    'localhost/',
    'localhost:5000/',
    'INDEX.docker.io/',
    'R/',
    '[::1]/',
  ),
  path: fc.array(part, { minLength: 1, maxLength: 4 }),
  tag: fc.option(fc.stringMatching(/^\w[\w.-]{0,20}$/), { nil: undefined }),
  digest: fc.constantFrom(undefined, SHA),
})

test('parsing a formatted reference yields the same reference', () => {
  fc.assert(
    fc.property(anyReference, ({ host, path, tag, digest }) => {
      // A first part with a dot would be read as a host.
      fc.pre(host !== '' || path.length === 1 || !path[0]?.includes('.'))
      const text = `${host}${path.join('/')}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`
      const reference = parseImage(text)
      if (!reference) throw new Error(`${text} was refused`)
      expect(reference).toMatchObject({ tag, digest })
      const normal = formatImage(reference)
      expect(formatImage(parseImage(normal) ?? { ...reference, registry: 'none' })).toBe(normal)
      expect(reference.registry).toBe(reference.registry.toLowerCase())
      expect(reference.registry === 'docker.io' ? reference.repository.includes('/') : true).toBe(true)
    }),
  )
})

test('any text is parsed or refused, and a parsed reference has valid characters only', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[aA./:@_-]{0,12}$/)), (text) => {
      const reference = parseImage(text)
      expect(reference === undefined ? 'a/b' : formatImage(reference)).toMatch(
        /^[a-z0-9.:[\]-]+\/[a-z0-9._/-]+(:[\w.-]+)?(@[a-z0-9]+:[0-9a-f]+)?$/,
      )
    }),
    { numRuns: 2_000 },
  )
})
