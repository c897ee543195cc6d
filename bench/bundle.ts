import path from 'node:path'
import { bundle, bundleTenure, bundleWithControlPlane, COMMAND, type Entries } from '../scripts/bundle.ts'

const CACHE = path.join(import.meta.dirname, '../node_modules/.cache')

/** Each program is a bundle with its dependencies, like the image of an operator. */
const PROGRAMS = ['apply', 'idle', 'informer', 'queue', 'reconcile'] as const

export type ProgramName = (typeof PROGRAMS)[number]

/** The path of each program. */
export type Programs = Readonly<Record<ProgramName, string>>

/**
 * Bundles the programs as plain JavaScript, so that the benchmarks measure a production image and not type stripping.
 */
export async function bundlePrograms(): Promise<Programs> {
  const files: Partial<Record<ProgramName, string>> = {}
  for (const name of PROGRAMS) {
    const folder = await cached(`tenure-bench/${name}`, { [name]: `bench/programs/${name}.ts` })
    files[name] = path.join(folder, `${name}.js`)
  }
  // The loop above sets every name.
  return files as Programs
}

/** Bundles the embedded control plane and its storage thread. */
export async function bundleControlPlane(): Promise<string> {
  const folder = await cached(
    'tenure-bench-control-plane',
    { main: 'bench/control-plane/programs/main.ts' },
    bundleWithControlPlane,
  )
  return path.join(folder, 'main.js')
}

/** Bundles the operators for a cluster: the program's first argument names one. */
export async function bundleOperators(): Promise<string> {
  const folder = await cached('tenure-bench-operators', { operator: 'bench/operators/programs/operator.ts' })
  return path.join(folder, 'operator.js')
}

/** The claims operator and the embedded control plane in one process, and hand-outs without the operator. */
export interface ClaimsPrograms {
  readonly embedded: string
  readonly bare: string
}

export async function bundleClaims(): Promise<ClaimsPrograms> {
  const folder = await cached(
    'tenure-bench-claims',
    {
      'embedded-claims': 'bench/operators/programs/embedded-claims.ts',
      'bare-claims': 'bench/operators/programs/bare-claims.ts',
    },
    bundleWithControlPlane,
  )
  return {
    bare: path.join(folder, 'bare-claims.js'),
    embedded: path.join(folder, 'embedded-claims.js'),
  }
}

/** Bundles the program that measures the template engine; the package is a file of its own, loaded when it is measured. */
export async function bundleTemplateProgram(): Promise<string> {
  const folder = await cached('tenure-bench-gotemplate', { main: 'bench/gotemplate/program.ts' })
  return path.join(folder, 'main.js')
}

/** Bundles the `tenure` command as the image has it. */
export async function bundleImage(): Promise<string> {
  const folder = path.join(CACHE, 'tenure-bench-image')
  await bundleTenure(folder)
  return path.join(folder, COMMAND)
}

async function cached(name: string, entries: Entries, write = bundle): Promise<string> {
  const folder = path.join(CACHE, name)
  await write(folder, entries)
  return folder
}
