/** The recorded answers of Helm, so that most test runs need no Go. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

import type { Answer } from './oracle.ts'

const FILE = path.join(import.meta.dirname, 'recorded.json')

/** By topic; one entry per case, a string for an output. */
type Recording = Readonly<Record<string, readonly (string | { readonly error: string })[]>>

export function readRecording(): ReadonlyMap<string, readonly Answer[]> {
  const recording = JSON.parse(readFileSync(FILE, 'utf8')) as Recording
  return new Map(
    Object.entries(recording).map(([name, answers]) => [
      name,
      answers.map((answer) => (typeof answer === 'string' ? { output: answer } : answer)),
    ]),
  )
}

export function writeRecording(answers: ReadonlyMap<string, readonly Answer[]>): void {
  const topics = [...answers].map(([name, list]) => {
    const lines = list.map(({ output, error }) => JSON.stringify(output ?? { error }))
    return `${JSON.stringify(name)}: [\n${lines.join(',\n')}\n]`
  })
  writeFileSync(FILE, `{\n${topics.join(',\n')}\n}\n`)
}
