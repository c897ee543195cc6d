import { describe, expect, test } from 'vitest'
import { UBUNTU_SPELLINGS } from '../testing/image-spellings.ts'
import { defaultImagePolicy, imagePolicyViolation, isLatest } from './image-policy.ts'

const SHA = `sha256:${'0123456789abcdef'.repeat(4)}`
const REGISTRIES = 'Images must be from gcr.io or docker.io registries'
const objection = (image: string, allowedRegistries: readonly string[]): string | undefined =>
  imagePolicyViolation(image, { blockedBases: [], allowedRegistries })
const base = (name: string): string =>
  `Base image '${name}' is not allowed. Use distroless or specific application images.`

describe('the default policy', () => {
  test.each(UBUNTU_SPELLINGS)('%s is recognized as the base image ubuntu', (image) => {
    expect(imagePolicyViolation(image, defaultImagePolicy)).toBe(base('ubuntu'))
  })

  test.each([
    ['debian:12', base('debian')],
    ['alpine:3.22', base('alpine')],
    ['quay.io/org/app:1', REGISTRIES],
    ['localhost/app', REGISTRIES],
    ['docker.io.evil.example/app', REGISTRIES],
    ['evilgcr.io/app/x', REGISTRIES],
    ['gcr.io:5000/project/app', REGISTRIES],
    ['Nginx', "'Nginx' is not a valid image reference"],
    [' nginx', "' nginx' is not a valid image reference"],
  ])('%s is refused', (image, message) => {
    expect(imagePolicyViolation(image, defaultImagePolicy)).toBe(message)
  })

  test.each([
    'nginx',
    'nginx:latest',
    'nginx:alpine',
    'docker.io/library/nginx:1.21',
    'myorg/myapp:v1.0.0',
    'gcr.io/distroless/base-debian12',
    'eu.gcr.io/project/app:1',
    'GCR.io/project/app',
    'myorg/ubuntu-tools',
    'ubuntu/nginx',
  ])('%s is allowed', (image) => {
    expect(imagePolicyViolation(image, defaultImagePolicy)).toBeUndefined()
  })
})

test('a blocked base with a slash matches that repository only', () => {
  const policy = { blockedBases: ['index.docker.io/busybox', 'Fedora'], allowedRegistries: [] }
  expect(imagePolicyViolation('busybox:1', policy)).toBe(base('index.docker.io/busybox'))
  expect(imagePolicyViolation('quay.io/fedora:41', policy)).toBe(base('Fedora'))
  expect(imagePolicyViolation('gcr.io/project/busybox', policy)).toBeUndefined()
  expect(imagePolicyViolation('docker.io/myorg/busybox', policy)).toBeUndefined()
})

test('an allowed registry is a host, a wildcard of hosts below one, or any host', () => {
  expect(objection('quay.io/x/y', [])).toBeUndefined()
  expect(objection('quay.io/x/y', ['gcr.io', '*'])).toBeUndefined()
  expect(objection('a.example.com/y', ['*.example.com'])).toBeUndefined()
  expect(objection('example.com/y', ['*.example.com'])).toBe('Images must be from *.example.com registries')
  expect(objection('localhost:5000/y', ['localhost:5000'])).toBeUndefined()
  expect(objection('localhost:5001/y', ['localhost:5000'])).toBe('Images must be from localhost:5000 registries')
  expect(objection('nginx', ['registry-1.docker.io'])).toBeUndefined()
  expect(objection('quay.io/x/y', ['a.io', '*.a.io', 'b.io', 'c.io'])).toBe(
    'Images must be from a.io, b.io or c.io registries',
  )
})

test('an image is latest by an explicit or default tag, unless a digest pins it', () => {
  expect(['nginx', 'nginx:latest', 'localhost:5000/nginx'].map(isLatest)).toEqual([true, true, true])
  expect(['nginx:1', `nginx@${SHA}`, `nginx:latest@${SHA}`, 'Nginx:latest'].map(isLatest)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
