import { spawn } from 'node:child_process'
import { root } from './run.ts'

export interface NpmResult {
  readonly code: number
  readonly output: string
}

/** Runs the npm that runs this script, or that of the PATH, and returns its standard output. */
export function npm(args: readonly string[]): Promise<NpmResult> {
  const own = process.env['npm_execpath']
  const [command, ...before] = own === undefined ? ['npm'] : [process.execPath, own]
  return new Promise((resolve, reject) => {
    const child = spawn(command ?? 'npm', [...before, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
