/**
 * Writes the manifests in `deploy/` that say what the code says: the CustomResourceDefinitions, and the Applications
 * operator with the rights that it needs and no more.
 *
 *   node scripts/launch.mjs scripts/generate-manifests.ts
 *
 * `--check` writes nothing, and ends with 1 if a manifest is not as it should be.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { manifests } from './manifests/index.ts'

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

for (const { file, text } of manifests()) {
  const target = path.join(root, file)
  const present = await readFile(target, 'utf8').catch(() => undefined)
  if (present === text) continue
  if (values.check) {
    process.stderr.write(`${file} is not what scripts/generate-manifests.ts makes\n`)
    process.exitCode = 1
    continue
  }
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, text)
  process.stdout.write(`${file} written\n`)
}
