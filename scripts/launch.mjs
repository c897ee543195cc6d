// Runs a TypeScript program of this repository: node scripts/launch.mjs <program.ts> [arguments]
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { launch } from '../packages/tenure/bin/launch.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const program = process.argv[2]

if (!program) {
  process.stderr.write('usage: node scripts/launch.mjs <program.ts> [arguments]\n')
  process.exit(2)
}
await launch(pathToFileURL(path.resolve(root, program)), true)
