import { defaultValues } from '@tenure/runtime/configuration'
import type { JsonObject } from '@tenure/kube/model'
import { describe, expect, test } from 'vitest'
import { claimsConfig, type ClaimsSettings } from './config.ts'
import { poolSettings } from './pool-settings.ts'

const MINUTE = 60_000
const settings = (changes: Partial<ClaimsSettings> = {}): ClaimsSettings => ({
  ...defaultValues(claimsConfig),
  ...changes,
})
const pools = (described: JsonObject) => poolSettings(settings({ pools: described }))

describe('poolSettings', () => {
  test('flags and variables describe the pool "default"', () => {
    const [pool, ...others] = poolSettings(
      settings({ preProvisionClaimsCount: 3, defaultTtl: 20 * MINUTE, maxTtl: MINUTE, valuesConfigMapName: 'v' }),
    )
    expect(others).toEqual([])
    expect(pool).toEqual({
      name: 'default',
      inputs: {
        templatePath: 'config/template/resources.yaml',
        valuesPath: 'config/template/values.yaml',
        valuesConfigMap: { name: 'v', key: 'values.yaml' },
        valuesSchemaPath: undefined,
      },
      defaultTtl: 20 * MINUTE,
      // A lower maximum is raised.
      maxTtl: 20 * MINUTE,
      count: 3,
      min: 0,
      max: 10_000,
      spare: undefined,
      cooldown: 5 * MINUTE,
    })
  })

  test('a named pool takes over everything but the size', () => {
    const [, chrome] = poolSettings(
      settings({
        preProvisionClaimsCount: 3,
        templatePath: 'a.yaml',
        pools: { chrome: { count: 2, valuesPath: 'chrome.yaml', maxTTL: '1d' } },
      }),
    )
    expect(chrome).toMatchObject({
      name: 'chrome',
      inputs: { templatePath: 'a.yaml', valuesPath: 'chrome.yaml', valuesConfigMap: undefined },
      count: 2,
      defaultTtl: 10 * MINUTE,
      maxTtl: 24 * 60 * MINUTE,
    })
    expect(pools({ small: { maxTTL: '1m' } })[1]).toMatchObject({ defaultTtl: MINUTE, maxTtl: MINUTE })
    expect(pools({ other: {} })[1]).toMatchObject({ count: 0 })
  })

  test('the file may also describe the pool "default"', () => {
    const [pool] = pools({ default: { spare: 2, min: 1, max: 5, cooldown: '30s' } })
    expect(pool).toMatchObject({ name: 'default', spare: 2, min: 1, max: 5, cooldown: 30_000, count: 0 })
  })

  test.each<[JsonObject, string]>([
    [{ 'Not A Name': {} }, 'pools.Not A Name in the settings file: a pool is named as a DNS label'],
    [{ a: { counts: 1 } }, 'pools.a in the settings file: Unrecognized key: "counts"'],
    [{ a: { count: -1 } }, 'pools.a.count in the settings file'],
    [{ a: { count: 1.5 } }, 'pools.a.count in the settings file'],
    [{ a: { maxTTL: 'soon' } }, 'pools.a.maxTTL in the settings file: "soon" is not a duration'],
    [{ a: { defaultTTL: '10ms' } }, 'pools.a.defaultTTL in the settings file: it must be at least 1s'],
    [{ a: { min: 5, max: 2 } }, 'pools.a.min in the settings file: 5 is more than max, 2'],
    [{ a: 'x' }, 'pools.a in the settings file'],
    [{ a: { templatePath: '' } }, 'pools.a.templatePath in the settings file'],
  ])('%j is refused with its place', (described, message) => {
    expect(() => pools(described)).toThrow(message)
  })
})
