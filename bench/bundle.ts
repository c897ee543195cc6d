import path from 'node:path'
import { rolldown } from 'rolldown'

const root = path.dirname(import.meta.dirname)

/**
 * The measurements as plain JavaScript, as a container image would carry them: what a user runs in production is
 * measured, not type stripping.
 */
export async function bundlePrograms(): Promise<string> {
  const folder = path.join(root, 'node_modules/.cache/tenure-bench')
  const bundle = await rolldown({
    input: path.join(root, 'bench/programs/main.ts'),
    platform: 'node',
    // Its parts are loaded one by one, so it stays a package.
    external: [/^undici/],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'main.mjs', chunkFileNames: '[name].mjs' })
  await bundle.close()
  return path.join(folder, 'main.mjs')
}
