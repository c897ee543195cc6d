import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'

export const root = path.dirname(import.meta.dirname)

/** A step of a script: a display name, the npm package whose program runs, and its arguments. */
export interface Step {
  readonly name: string
  readonly tool: 'typescript' | 'oxlint' | 'oxfmt' | 'vitest'
  readonly args: readonly string[]
}

/** Runs the steps in order with this Node, prints their output and stops at the first failure. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const code = await runStep(step)
    if (code !== 0) process.exit(code)
  }
}

/** Runs one step and returns its exit code. */
export async function runStep(step: Step): Promise<number> {
  console.log(`\n▸ ${step.name}`)
  const started = performance.now()
  const code = await runTool(step.tool, step.args)
  if (code === 0) console.log(`✓ ${step.name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  else console.error(`✗ ${step.name} failed (exit ${code})`)
  return code
}

/** Runs the program of an npm package with this Node and returns its exit code. */
export function runTool(tool: Step['tool'], args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [programOf(tool), ...args], { cwd: root, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function programOf(tool: Step['tool']): string {
  const require = createRequire(path.join(root, 'package.json'))
  const manifestPath = findManifest(require, tool)
  const manifest = require(manifestPath) as { bin: string | Readonly<Record<string, string>> }
  const bin = typeof manifest.bin === 'string' ? manifest.bin : (manifest.bin[tool] ?? manifest.bin['tsc'])
  if (bin === undefined) throw new Error(`${tool} has no program to run`)
  return path.join(path.dirname(manifestPath), bin)
}

/** Searches on disk, because not every package exports its package.json. */
function findManifest(require: NodeJS.Require, tool: string): string {
  for (const folder of require.resolve.paths(tool) ?? []) {
    const candidate = path.join(folder, tool, 'package.json')
    try {
      return require.resolve(candidate)
    } catch {
      // Not in this folder; try its parent.
    }
  }
  throw new Error(`${tool} is not installed: run "npm ci"`)
}
