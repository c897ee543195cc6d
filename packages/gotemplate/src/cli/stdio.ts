/** Answers JSON lines, for editors and tests. */
import { createInterface } from 'node:readline'

import { TemplateError } from '../errors.ts'
import type { RenderOptions } from '../evaluate/render.ts'
import { renderChartFile } from '../helm/chart-file.ts'
import { toDisplay } from '../values/bytes.ts'

export interface StdioAnswer {
  readonly output?: string
  readonly error?: string
}

/** Renders as the only file of the chart `claim-test`, released under the same name. */
export function answer(line: string, options: RenderOptions = {}): StdioAnswer {
  try {
    const { template = '', values = '' } = JSON.parse(line) as { readonly template?: string; readonly values?: string }
    return { output: toDisplay(renderChartFile(template, values, { ...options, release: 'claim-test' })) }
  } catch (error) {
    if (error instanceof TemplateError || error instanceof SyntaxError) return { error: toDisplay(error.message) }
    throw error
  }
}

/** Reads `{"template","values"}` per line, with the values as YAML text, and answers `{"output"}` or `{"error"}`. */
export async function serveStdio(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line !== '') process.stdout.write(`${JSON.stringify(answer(line))}\n`)
  }
}
