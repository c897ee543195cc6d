/** Compares the template engine with Helm's: Go's engine with the same functions. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

import { buildOracle } from '../../test/gotemplate/oracle.ts'
import { bundleTemplateProgram } from '../bundle.ts'
import { figure } from '../rows.ts'
import type { Row } from '../rows.ts'
import { medians, runProgram } from '../run-program.ts'

const CHARTS = path.join(import.meta.dirname, '../../test/gotemplate/charts')
/** Imports are short, so that they run more often. */
const IMPORTS_PER_ROUND = 5
const MAX_IMPORT_MS = 30
/** Our time per parse divided by Go's. */
const MAX_PARSE_RATIO = 3

interface MeasuredTemplate {
  readonly what: string
  readonly file: string
  /** Our time per rendering divided by Go's. */
  readonly maxRatio: number
  readonly isWithoutTpl?: true
}

const TEMPLATES: readonly MeasuredTemplate[] = [
  { what: 'claim template', file: '01-claim', maxRatio: 1 },
  { what: '300-line chart template', file: '10-large', maxRatio: 2 },
  // Go clones the set of templates for each `tpl`; those calls take most of its time above and hide the rest.
  { what: '300-line chart template without tpl', file: '10-large', maxRatio: 2, isWithoutTpl: true },
]

export interface TemplateBenchOptions {
  /** Runs per side, of which the median counts. */
  readonly rounds: number
  readonly say: (text: string) => void
}

export async function measureTemplates({ rounds, say }: TemplateBenchOptions): Promise<readonly Row[]> {
  const peer = await buildOracle()
  const program = await bundleTemplateProgram()
  const rows: Row[] = []
  for (const { what, file, maxRatio, isWithoutTpl } of TEMPLATES) {
    say(`▸ gotemplate: ${what}`)
    const read = (extension: string): string => readFileSync(path.join(CHARTS, `${file}.${extension}`), 'utf8')
    const template = isWithoutTpl ? read('tpl').replaceAll('tpl $v $ ', 'toString $v ') : read('tpl')
    const input = JSON.stringify({ template, values: read('values.yaml') })
    const runs = []
    for (let round = 0; round < rounds; round++) {
      // Alternates the sides, so that other load on the machine affects both.
      const theirs = await runProgram(peer, ['bench'], input)
      runs.push({ theirs, ours: await runProgram(process.execPath, [program, 'render'], input) })
      say(`  round ${round + 1} of ${rounds}`)
    }
    const ours = medians(runs.map((each) => each.ours))
    const theirs = medians(runs.map((each) => each.theirs))
    const row = (name: 'render' | 'parse', limit: number): Row => ({
      what: `${name} of the ${what}`,
      unit: 'µs',
      ours: figure(ours, name) / 1000,
      peer: figure(theirs, name) / 1000,
      bound: { on: 'ratio', is: 'at most', limit },
    })
    rows.push(row('render', maxRatio), row('parse', MAX_PARSE_RATIO))
  }
  say('▸ gotemplate: import')
  const source = path.join(import.meta.dirname, 'program.ts')
  return [
    ...rows,
    {
      what: 'import, CPU',
      unit: 'ms',
      ours: await importCpu(program, rounds),
      peer: undefined,
      bound: { on: 'value', is: 'at most', limit: MAX_IMPORT_MS },
    },
    {
      what: 'import of the TypeScript sources, CPU',
      unit: 'ms',
      ours: await importCpu(source, rounds),
      peer: undefined,
      bound: undefined,
    },
  ]
}

async function importCpu(program: string, rounds: number): Promise<number> {
  const runs = []
  for (let run = 0; run < rounds * IMPORTS_PER_ROUND; run++) {
    runs.push(await runProgram(process.execPath, [program, 'import']))
  }
  return figure(medians(runs), 'importCpuMs')
}
