import { asError, type TenureError } from '@tenure/kube'
import type { Operator } from '@tenure/runtime'
import { outputFormatOf, type Terminal, valueText } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from '../cluster/context.ts'
import { refusedLine, RequestedLists } from '../cluster/lists.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { argumentError } from '../../cli/usage-error.ts'
import { checkConnection } from './connection.ts'
import { checkDatabase } from './database.ts'
import { checkDefinitions } from './definitions.ts'
import { type Finding, Findings } from './finding.ts'
import { findInstalled } from './installed.ts'
import { checkLeaders } from './leaders.ts'
import { checkPermissions } from './permissions.ts'
import { checkVersions, type OwnVersions } from './versions.ts'
import { checkWebhooks } from './webhooks.ts'

const FORMATS = ['table', 'json', 'yaml'] as const

export interface DoctorSubjects {
  readonly operators: readonly Operator[]
  readonly versions: OwnVersions
}

type Output = Pick<ClusterContext, 'terminal' | 'write'>

/** `tenure doctor`. Resolves with 0 if nothing is wrong, else with 1. */
export async function runDoctor(
  context: ClusterContext,
  options: ClusterOptions,
  { operators, versions }: DoctorSubjects,
): Promise<number> {
  const format = doctorFormatOf(options)
  const { api, clock, config } = context
  const { findings, isConnected } = await checkConnection(context)
  if (!isConnected) return writeReport(context, format, [...findings, ...checkVersions([], versions)])
  const lists = new RequestedLists(api)
  const now = clock.now()
  const installed = await findInstalled(operators, lists, now)
  const checks: readonly (readonly [string, () => readonly Finding[] | Promise<readonly Finding[]>])[] = [
    ['definitions', () => checkDefinitions(api, installed)],
    ['leaders', () => checkLeaders(installed, now)],
    ['permissions', () => checkPermissions(api, installed, config.namespace)],
    ['webhooks', () => checkWebhooks(api, installed, now)],
    ['database', () => checkDatabase(context, options, installed)],
    ['versions', () => checkVersions(installed, versions)],
  ]
  const results = await Promise.all(checks.map(([name, check]) => completed(name, check)))
  const access = new Findings('access')
  const refused = refusedLine(lists, undefined)
  if (refused !== undefined) access.note(refused, 'Run tenure doctor as an administrator to check everything.')
  return writeReport(context, format, [...findings, ...access.all, ...results.flat()])
}

/** The report of a command that found no cluster. */
export function reportUnconnected(
  output: Output,
  options: ClusterOptions,
  error: TenureError,
  own: OwnVersions,
): number {
  const found = new Findings('kubeconfig')
  found.problem(
    error.message,
    'Set KUBECONFIG or --kubeconfig, or run this beside the .tenure folder of a running npm start.',
  )
  return writeReport(output, doctorFormatOf(options), [...found.all, ...checkVersions([], own)])
}

function doctorFormatOf({ output }: ClusterOptions): (typeof FORMATS)[number] {
  return outputFormatOf(output, (message) => argumentError(message), FORMATS)
}

/** One check that fails must not hide the others. */
async function completed(
  name: string,
  check: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check()
  } catch (error) {
    const found = new Findings(name)
    found.problem(
      `The check failed: ${asError(error).message}`,
      'Repair what the message names, and run tenure doctor again.',
    )
    return found.all
  }
}

function writeReport(
  { terminal, write }: Output,
  format: (typeof FORMATS)[number],
  findings: readonly Finding[],
): number {
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (format === 'table') write(reportText(findings, problems, terminal))
  else write(valueText(format, { problems, findings }))
  return problems === 0 ? EXIT_CODES.ok : EXIT_CODES.failed
}

const SIGNS = { ok: ['✓', 'green'], note: ['-', 'dim'], problem: ['✗', 'red'] } as const

function reportText(findings: readonly Finding[], problems: number, { paint }: Terminal): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ advice, check, level, message }) => {
    const [sign, style] = SIGNS[level]
    // Messages of servers may have several lines.
    const line = `${paint(style, sign)} ${check.padEnd(width)}  ${oneLine(message)}`
    return advice === undefined ? [line] : [line, `  ${' '.repeat(width)}  → ${oneLine(advice)}`]
  })
  const verdict = problems === 0 ? 'Nothing is wrong.' : `${problems} problem${problems === 1 ? '' : 's'} found.`
  return [...lines, '', paint(problems === 0 ? 'green' : 'red', verdict)].join('\n')
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim()
}
