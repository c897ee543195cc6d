/** The template cases: one template per line, after the values that a file's cases share. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

import { printfCases } from './printf-cases.ts'

export interface TemplateCase {
  readonly template: string
  /** YAML text. */
  readonly values: string
}

export interface CaseFile {
  readonly name: string
  readonly cases: readonly TemplateCase[]
}

const folder = path.join(import.meta.dirname, 'cases')
const charts = path.join(import.meta.dirname, 'charts')

/** All cases by topic, in a stable order. */
export function allCases(): readonly CaseFile[] {
  const files = readdirSync(folder)
    .toSorted()
    .map((file) => ({
      name: path.basename(file, '.txt'),
      cases: readCases(readFileSync(path.join(folder, file), 'utf8')),
    }))
  return [...files, { name: 'printf', cases: printfCases() }, { name: 'charts', cases: chartCases() }]
}

/** A character in the case files that stands for a newline in the template. */
const NEWLINE = '\u23CE'

function readCases(text: string): readonly TemplateCase[] {
  const [values = '', templates = ''] = text.split(/^---\n/m, 2)
  return templates
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ template: line.replaceAll(NEWLINE, '\n'), values }))
}

/** Templates of the size of a chart, each with its values beside it. */
function chartCases(): readonly TemplateCase[] {
  return readdirSync(charts)
    .filter((file) => file.endsWith('.tpl'))
    .toSorted()
    .map((file) => ({
      template: readFileSync(path.join(charts, file), 'utf8'),
      values: readFileSync(path.join(charts, file.replace(/\.tpl$/, '.values.yaml')), 'utf8'),
    }))
}
