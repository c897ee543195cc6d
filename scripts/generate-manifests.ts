/**
 * Writes the manifests in `deploy/` from the code: the CustomResourceDefinitions, and the operators with
 * least-privilege roles.
 *
 *   node scripts/launch.mjs scripts/generate-manifests.ts
 *
 * `--check` writes nothing and exits with 1 if a manifest is out of date.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { manifests } from './manifests/index.ts'
import { programArguments } from './program-help.ts'

const root = path.resolve(import.meta.dirname, '..')
const { values } = programArguments(
  {
    usage: 'node scripts/launch.mjs scripts/generate-manifests.ts [options]',
    summary: 'Write the manifests in deploy/ from the code.',
    options: [{ term: '--check', meaning: 'Write nothing, and exit with 1 if a manifest is out of date.' }],
  },
  { options: { check: { type: 'boolean', default: false } } },
)

for (const { file, text } of manifests()) {
  const target = path.join(root, file)
  const present = await readFile(target, 'utf8').catch(() => undefined)
  if (present === text) continue
  if (values.check) {
    process.stderr.write(`${file} is out of date: run scripts/generate-manifests.ts\n`)
    process.exitCode = 1
    continue
  }
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, text)
  process.stdout.write(`${file} written\n`)
}
