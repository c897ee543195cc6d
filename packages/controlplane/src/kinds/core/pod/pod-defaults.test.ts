import { expect, test } from 'vitest'
import { imageTag } from './pod-defaults.ts'

test.each([
  ['nginx', 'latest'],
  ['nginx:1', '1'],
  ['host:5000/nginx', 'latest'],
  ['host:5000/nginx:v2', 'v2'],
  ['nginx@sha256:abc', ''],
  ['nginx:v1@sha256:abc', 'v1'],
])('the tag of %s is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag)
})
