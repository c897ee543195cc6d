import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'

const root = path.dirname(import.meta.dirname)

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
    const folder = await bundle(`tenure-bench/${name}`, { [name]: `bench/programs/${name}.ts` })
    files[name] = path.join(folder, `${name}.js`)
  }
  // The loop above sets every name.
  return files as Programs
}

/** Bundles the embedded control plane and its storage thread. */
export async function bundleControlPlane(): Promise<string> {
  const folder = await bundle('tenure-bench-control-plane', {
    main: 'bench/control-plane/programs/main.ts',
    'sqlite-worker': 'packages/controlplane/src/storage/sqlite/sqlite-worker.ts',
  })
  return path.join(folder, 'main.js')
}

/** Bundles the operators for a cluster: the program's first argument names one. */
export async function bundleOperators(): Promise<string> {
  const folder = await bundle('tenure-bench-operators', { operator: 'bench/operators/programs/operator.ts' })
  return path.join(folder, 'operator.js')
}

/** The claims operator and the embedded control plane in one process, and hand-outs without the operator. */
export interface ClaimsPrograms {
  readonly embedded: string
  readonly bare: string
}

export async function bundleClaims(): Promise<ClaimsPrograms> {
  const folder = await bundle('tenure-bench-claims', {
    'embedded-claims': 'bench/operators/programs/embedded-claims.ts',
    'bare-claims': 'bench/operators/programs/bare-claims.ts',
    'sqlite-worker': 'packages/controlplane/src/storage/sqlite/sqlite-worker.ts',
  })
  return {
    bare: path.join(folder, 'bare-claims.js'),
    embedded: path.join(folder, 'embedded-claims.js'),
  }
}

/** Bundles the program that measures the template engine; the package is a file of its own, loaded when it is measured. */
export async function bundleTemplateProgram(): Promise<string> {
  const folder = await bundle('tenure-bench-gotemplate', { main: 'bench/gotemplate/program.ts' })
  return path.join(folder, 'main.js')
}

async function bundle(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = path.join(root, 'node_modules/.cache', name)
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([entry, file]) => [entry, path.join(root, file)])),
    platform: 'node',
    // undici loads its parts lazily, so it stays an external package.
    external: [/^undici/],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await bundle.close()
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n')
  return folder
}
