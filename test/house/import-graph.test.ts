import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, packageSources, root } from './sources.ts'

/** The packages that each package may import. Operators use kube, runtime and http, and no other operator. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  yaml: [],
  kube: ['yaml'],
  runtime: ['yaml', 'kube'],
  http: ['kube', 'runtime'],
  gotemplate: ['yaml'],
  controlplane: ['yaml', 'kube', 'runtime'],
  applications: ['kube', 'runtime', 'http'],
  claims: ['yaml', 'kube', 'runtime', 'http', 'gotemplate'],
  leases: ['kube', 'runtime', 'http'],
  databases: ['kube', 'runtime', 'http'],
  dashboard: ['yaml', 'kube', 'runtime', 'http'],
  tenure: [
    'yaml',
    'kube',
    'runtime',
    'http',
    'gotemplate',
    'controlplane',
    'applications',
    'claims',
    'leases',
    'databases',
    'dashboard',
  ],
}

/** Packages whose tests run on the embedded control plane; their other sources must not import it. */
const TESTED_ON_CONTROLPLANE = ['http', 'applications', 'claims', 'leases', 'databases']

const isTestOnly = (file: string): boolean => /\.test(ing)?\.ts$|\/testing\//.test(file)

function mayImport(file: string, name: string): boolean {
  if (MAY_IMPORT[packageOf(file)]?.includes(name)) return true
  return name === 'controlplane' && isTestOnly(file) && TESTED_ON_CONTROLPLANE.includes(packageOf(file))
}

/** The page of the dashboard, and the program that bundles it. */
const isBundled = (file: string): boolean => /^packages\/dashboard\/(src\/page\/|build\.ts)/.test(file)

const sources = packageSources()
const packageOf = (file: string): string => file.split('/')[1] ?? ''

describe('the import graph of the packages', () => {
  test('the test finds the sources', () => {
    expect(sources.length).toBeGreaterThan(20)
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(50)
  })

  test('every package is listed', () => {
    expect(readdirSync(path.join(root, 'packages')).filter((name) => !(name in MAY_IMPORT))).toEqual([])
  })

  test('packages import only what the list allows', () => {
    const wrong = sources.flatMap((source) =>
      importsOf(source)
        .map((specifier) => /^@tenure\/([a-z]+)/.exec(specifier)?.[1])
        .filter((name) => name !== undefined)
        .filter((name) => !mayImport(source.path, name))
        .map((name) => `${source.path} imports @tenure/${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('only tests of an operator import the control plane', () => {
    expect(mayImport('packages/leases/src/operator.ts', 'controlplane')).toBe(false)
    expect(mayImport('packages/leases/src/testing/fixture.ts', 'controlplane')).toBe(true)
    expect(mayImport('packages/http/src/routes.test.ts', 'controlplane')).toBe(true)
    expect(mayImport('packages/runtime/src/manager.test.ts', 'controlplane')).toBe(false)
  })

  test('no relative import leaves its package', () => {
    const wrong = sources.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => path.posix.normalize(path.posix.join(path.posix.dirname(source.path), specifier)))
        .filter((target) => packageOf(target) !== packageOf(source.path) || !target.startsWith('packages/'))
        .map((target) => `${source.path} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('sources import only declared dependencies', () => {
    const wrong = sources
      .filter((source) => !/\.test(ing)?\.ts$|testdata\/|\/testing\/|\/testing\.ts$/.test(source.path))
      .flatMap((source) => {
        const manifest = JSON.parse(
          readFileSync(path.join(root, 'packages', packageOf(source.path), 'package.json'), 'utf8'),
        ) as { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }
        // The page is bundled: its users do not install what it imports.
        const declared = { ...manifest.dependencies, ...(isBundled(source.path) && manifest.devDependencies) }
        return importsOf(source)
          .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
          .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
          .filter((name) => !builtinModules.includes(name) && declared[name] === undefined)
          .map((name) => `${source.path} imports ${name}`)
      })
    expect(wrong).toEqual([])
  })

  test('built-in kinds and custom resources do not import each other', () => {
    const folders = { kinds: 'packages/controlplane/src/kinds/', crd: 'packages/controlplane/src/crd/' }
    const importsBetween = (from: string, to: string): string[] =>
      sources
        .filter((source) => source.path.startsWith(from) && !source.path.endsWith('.test.ts'))
        .flatMap((source) =>
          importsOf(source)
            .filter((specifier) => specifier.startsWith('.'))
            .map((specifier) => path.posix.normalize(path.posix.join(path.posix.dirname(source.path), specifier)))
            .filter((target) => target.startsWith(to))
            .map((target) => `${source.path} imports ${target}`),
        )
    expect(sources.some((source) => source.path.startsWith(folders.crd))).toBe(true)
    expect(importsBetween(folders.kinds, folders.crd)).toEqual([])
    expect(importsBetween(folders.crd, folders.kinds)).toEqual([])
  })
})
