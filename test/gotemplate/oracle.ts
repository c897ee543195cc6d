/** Helm's own engine, as a program that answers cases. */
import { spawn } from 'node:child_process'
import path from 'node:path'

import { buildGo } from '../cluster/build-cache.ts'
import { type Progress, stderrProgress } from '../cluster/progress.ts'
import type { TemplateCase } from './cases.ts'

export interface Answer {
  readonly output?: string
  readonly error?: string
}

/** Builds the Go program if necessary and returns its path. Default progress: standard error. */
export async function buildOracle(progress: Progress = stderrProgress): Promise<string> {
  const build = {
    label: 'gotemplate-oracle',
    module: path.join(import.meta.dirname, 'oracle'),
    programs: [{ name: 'oracle', package: '.' }],
    ldflags: ['-s -w'],
  }
  return path.join(await buildGo(build, new Set(['oracle']), progress), 'bin', 'oracle')
}

/** Returns Helm's answer to each case, in order. */
export function askOracle(program: string, cases: readonly TemplateCase[]): Promise<readonly Answer[]> {
  return new Promise((resolve, reject) => {
    const oracle = spawn(program, [], { env: { ...process.env, TZ: 'UTC' }, stdio: ['pipe', 'pipe', 'inherit'] })
    let out = ''
    oracle.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    oracle.once('error', reject)
    oracle.once('close', (code) => {
      const lines = out.split('\n').filter((line) => line !== '')
      if (code === 0 && lines.length === cases.length) resolve(lines.map((line) => JSON.parse(line) as Answer))
      else reject(new Error(`The oracle ended with ${code} after ${lines.length} of ${cases.length} answers.`))
    })
    oracle.stdin.end(cases.map((each) => `${JSON.stringify(each)}\n`).join(''))
  })
}
