import { type HelpPage, printHelp } from '../cli/help-page.ts'
import type { Option, Table } from './option.ts'
import type { Configuration, OptionRow } from './table.ts'

const PLACEHOLDERS: Readonly<Record<Option['type'], string>> = {
  string: 'text',
  integer: 'number',
  boolean: '',
  duration: 'duration',
  list: 'a,b,…',
  address: 'host:port',
  structure: '',
}

/** The help of a program with this table. */
export function helpPage(configuration: Configuration<Table>): HelpPage {
  const { program, summary, rows, configEnvironment } = configuration
  const variables = configEnvironment.join(' or ')
  return {
    usage: `${program} [options]`,
    summary,
    options: [
      ...rows.map((row) => ({ term: usageOf(row), meaning: `${row.option.meaning} ${detailsOf(row)}`.trim() })),
      { term: '--config <path>', meaning: `Settings file, YAML or JSON.${variables && ` (${variables})`}` },
      { term: '-h, --help', meaning: 'Print this help.' },
    ],
    note: 'Precedence: option, environment variable, settings file, default.',
  }
}

/** The text of `--help`. `columns` defaults to 100. */
export function helpText(configuration: Configuration<Table>, columns?: number): string {
  return printHelp(helpPage(configuration), columns)
}

/** The table as Markdown, for the reference docs. */
export function referenceMarkdown(configuration: Configuration<Table>): string {
  const head = '| Flag | Environment | File key | Type | Default | Meaning |\n| --- | --- | --- | --- | --- | --- |\n'
  const rows = configuration.rows.map((row) => {
    const { option, flag, environment, file } = row
    const cells = [flag && `--${flag}`, environment, file].map((name) => (name ? `\`${name}\`` : '–'))
    const fallback = defaultText(option)
    const meaning = `${option.meaning}${limitsOf(option)}`
    return `| ${[...cells, option.type, fallback === undefined ? '–' : `\`${fallback}\``, meaning].map(escapeCell).join(' | ')} |\n`
  })
  return head + rows.join('')
}

function usageOf({ key, option, flag, environment, file }: OptionRow): string {
  if (option.type === 'structure') return `${file ?? key}: {…}`
  if (flag === undefined) return environment ?? file ?? key
  if (option.type === 'boolean') return option.default === true ? `--[no-]${flag}` : `--${flag}`
  const choices = option.type === 'string' ? option.choices?.join('|') : undefined
  return `--${flag} <${choices ?? PLACEHOLDERS[option.type]}>`
}

function detailsOf(row: OptionRow): string {
  const { option } = row
  const fallback = defaultText(option)
  const facts = [
    option.type === 'structure' ? 'only in the file' : '',
    option.required ? 'required' : '',
    fallback === undefined || fallback === '' ? '' : `default ${fallback}`,
    row.flag === undefined ? '' : (row.environment ?? ''),
  ].filter(Boolean)
  return facts.length > 0 ? `(${facts.join('; ')})` : ''
}

function defaultText(option: Option): string | undefined {
  if (option.default === undefined) return undefined
  if (option.secret) return '<hidden>'
  return option.type === 'structure' ? JSON.stringify(option.default) : String(option.default)
}

function limitsOf(option: Option): string {
  const limits: string[] = []
  if (option.required) limits.push('Required.')
  if (option.secret) limits.push('Secret.')
  if (option.type === 'string' && option.choices) limits.push(`One of \`${option.choices.join('`, `')}\`.`)
  if (option.type === 'integer' || option.type === 'duration') {
    if (option.min !== undefined) limits.push(`At least ${option.min}.`)
    if (option.max !== undefined) limits.push(`At most ${option.max}.`)
  }
  return limits.length > 0 ? ` ${limits.join(' ')}` : ''
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
