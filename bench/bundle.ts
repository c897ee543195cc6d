import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'

const root = path.dirname(import.meta.dirname)

/** Each is a program of its own, and carries what it uses: as the image of an operator would. */
const PROGRAMS = ['apply', 'idle', 'informer', 'queue', 'reconcile'] as const

export type ProgramName = (typeof PROGRAMS)[number]

/** Where the programs are. */
export type Programs = Readonly<Record<ProgramName, string>>

/**
 * The measurements as plain JavaScript, as a container image would carry them: what a user runs in production is
 * measured, not type stripping.
 */
export async function bundlePrograms(): Promise<Programs> {
  const files: Partial<Record<ProgramName, string>> = {}
  for (const name of PROGRAMS) {
    const folder = await bundle(`tenure-bench/${name}`, { [name]: `bench/programs/${name}.ts` })
    files[name] = path.join(folder, `${name}.js`)
  }
  // Each has been gone through.
  return files as Programs
}

/** The same of the embedded control plane, with the thread that writes for it. */
export async function bundleControlPlane(): Promise<string> {
  const folder = await bundle('tenure-bench-control-plane', {
    main: 'bench/control-plane/programs/main.ts',
    'sqlite-worker': 'packages/controlplane/src/storage/sqlite-worker.ts',
  })
  return path.join(folder, 'main.js')
}

async function bundle(name: string, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = path.join(root, 'node_modules/.cache', name)
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([entry, file]) => [entry, path.join(root, file)])),
    platform: 'node',
    // Its parts are loaded one by one, so it stays a package.
    external: [/^undici/],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' })
  await bundle.close()
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n')
  return folder
}
