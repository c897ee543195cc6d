import { expect, test } from 'vitest'
import { readBuildInfo } from './build-info.ts'

test('the variables of the image say what it was built from', () => {
  const built = { TENURE_VERSION: '1.2.3', TENURE_BUILD_TIME: '2026-01-02T03:04:05Z', TENURE_GIT_COMMIT: 'abc' }
  expect(readBuildInfo(built)).toMatchObject({
    version: '1.2.3',
    buildTime: '2026-01-02T03:04:05Z',
    gitCommit: 'abc',
    node: process.versions.node,
  })
})

test('without them there is the version of the package, and the rest is left out', () => {
  expect(Object.keys(readBuildInfo({ TENURE_VERSION: '', TENURE_GIT_COMMIT: '' }))).toEqual([
    'version',
    'node',
    'platform',
  ])
})
