import type { SourcePackage } from './packages.ts'

/** Node versions that run the packages. undici sets the minimum of 22. The launcher of commands checks it, too. */
export const ENGINES = '^22.19.0 || >=24.0.0'

/** Fields that are published as they are written. */
const KEPT = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'sideEffects',
  'bin',
  'dependencies',
  'optionalDependencies',
]

/** Fields that packing writes itself, or that only the workspace needs. */
const REPLACED = ['exports', 'files', 'devDependencies']

/** The package.json of a published package: JavaScript with types in place of TypeScript. */
export function packedManifest({ launchers, manifest }: SourcePackage): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(manifest).filter((field) => !KEPT.includes(field) && !REPLACED.includes(field))
  if (unknown.length > 0) throw new Error(`${manifest.name}: decide whether to publish ${unknown.join(', ')}`)
  return {
    ...Object.fromEntries(KEPT.filter((field) => field in manifest).map((field) => [field, manifest[field]])),
    engines: { node: ENGINES },
    exports: packedExports(manifest.exports),
    files: [...new Set(['dist', ...(launchers.length > 0 ? ['bin'] : []), ...(manifest.files ?? [])])],
    publishConfig: { access: 'public' },
  }
}

function packedExports(exports: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const targets = Object.entries(exports).map(([subpath, source]) => {
    const target = source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '')
    return [subpath, { types: `${target}.d.ts`, default: `${target}.js` }] as const
  })
  return { ...Object.fromEntries(targets), './package.json': './package.json' }
}
