/**
 * npm run sbom: prints the software bill of materials of the runtime as CycloneDX: each package that runs with Tenure or is
 * bundled in it, with version and licence. It is that of `npm sbom` with what npm leaves out.
 *
 *   npm run -s sbom > sbom.json
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { npm } from './npm.ts'
import { programArguments } from './program-help.ts'
import { root } from './run.ts'

/** Packages for development whose code is in the committed build of the dashboard's page. */
const BUNDLED = ['preact']

/** An entry of package-lock.json. */
export interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
}

interface Component {
  readonly 'bom-ref': string
  readonly purl: string
  readonly [key: string]: unknown
}

/** The installed packages of the lockfile that run with Tenure, by `name@version`. */
export function runtimePackages(): ReadonlyMap<string, LockedPackage> {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const found = new Map<string, LockedPackage>()
  for (const [place, entry] of Object.entries(packages)) {
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const runs = place.includes('node_modules/') && !entry.link && (!entry.dev || BUNDLED.includes(name))
    if (runs) found.set(`${name}@${entry.version}`, entry)
  }
  return found
}

/** As `npm sbom` describes a package. */
function componentOf(id: string, { version = '', license, integrity = '', optional }: LockedPackage): Component {
  const name = id.slice(0, id.lastIndexOf('@'))
  const [algorithm, digest = ''] = integrity.split('-')
  return {
    'bom-ref': id,
    type: 'library',
    name,
    version,
    scope: optional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
  }
}

export async function sbom(): Promise<string> {
  const { code, output } = await npm(['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'])
  if (code !== 0) throw new Error(`npm sbom ended with ${code}`)
  const document = JSON.parse(output) as { readonly components: readonly Component[] }
  // npm 11 leaves out a package for which a development tool has an optional peer dependency.
  const known = new Set(document.components.map((component) => component['bom-ref']))
  const left = [...runtimePackages()].filter(([id]) => !known.has(id)).map(([id, entry]) => componentOf(id, entry))
  const components = [...document.components, ...left]
  return `${JSON.stringify({ ...document, components }, undefined, 2)}\n`
}

if (process.argv[1] === import.meta.filename) {
  programArguments(
    { usage: 'npm run -s sbom > sbom.json', summary: 'Print the software bill of materials of the runtime.' },
    {},
  )
  process.stdout.write(await sbom())
}
