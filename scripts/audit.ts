/**
 * npm run audit: fails if a package of the runtime has a known vulnerability. It says so if the registry does not answer such
 * questions, and does not fail then: nothing was found out.
 */
import { npm } from './npm.ts'
import { programArguments } from './program-help.ts'

export interface AuditResult {
  readonly message: string
  readonly isClean: boolean
}

interface Vulnerability {
  readonly name: string
  readonly severity: string
  readonly range: string
}

/** Reads the JSON of `npm audit`. */
export function readAudit(output: string): AuditResult {
  const answer = parsed(output)
  if (answer.vulnerabilities === undefined) {
    const reason = answer.message ?? 'npm audit printed no result'
    return { message: `Not checked, because the registry did not answer: ${reason}`, isClean: true }
  }
  const found = Object.values(answer.vulnerabilities)
  if (found.length === 0) return { message: 'No known vulnerability in the packages of the runtime.', isClean: true }
  const lines = found.map(({ name, severity, range }) => `  ${name} ${range}: ${severity}`)
  const advice = 'Run "npm audit --omit=dev" for details, and update them.'
  return { message: ['Packages with known vulnerabilities:', ...lines, advice].join('\n'), isClean: false }
}

interface AuditAnswer {
  readonly message?: string
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>
}

function parsed(output: string): AuditAnswer {
  try {
    return JSON.parse(output) as AuditAnswer
  } catch {
    return {}
  }
}

if (process.argv[1] === import.meta.filename) {
  programArguments(
    { usage: 'npm run audit', summary: 'Fail if a package of the runtime has a known vulnerability.' },
    {},
  )
  const { message, isClean } = readAudit((await npm(['audit', '--omit=dev', '--json'])).output)
  process.stdout.write(`${message}\n`)
  process.exitCode = isClean ? 0 : 1
}
