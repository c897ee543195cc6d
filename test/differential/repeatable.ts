/**
 * Sends the cases to the real server repeatedly and prints those with varying responses: the server iterates over maps
 * in random order, and such a case must be `unordered`, or it fails occasionally.
 *
 * `node scripts/launch.mjs test/differential/repeatable.ts <kubeconfig> [rounds, 30 by default] [part of the cases'
 * names]`
 */
import { programArguments, usageExit } from '../../scripts/program-help.ts'
import { CORPUS } from './cases/index.ts'
import type { Case } from './case.ts'
import { differences, type Recorded } from './run-case.ts'
import { Session } from './session.ts'

const { positionals } = programArguments(
  {
    usage: 'node scripts/launch.mjs test/differential/repeatable.ts <kubeconfig> [rounds] [part]',
    summary: 'Send the cases to a real API server repeatedly, and print those with varying responses.',
    arguments: [
      { term: 'kubeconfig', meaning: 'Path of the kubeconfig of the cluster.' },
      { term: 'rounds', meaning: 'Number of rounds. Default: 30.' },
      { term: 'part', meaning: "Part of the cases' names. Default: all cases." },
    ],
  },
  { allowPositionals: true },
)
const [kubeconfig = usageExit('The kubeconfig is missing'), rounds = '30', part = ''] = positionals

const sessions: Session[] = []
const cases = CORPUS.flatMap((group) => group.cases).filter(({ name }) => name.includes(part))
const first = await round(kubeconfig, cases)
const unsteady = new Set<string>()
for (let count = 2; count <= Number(rounds); count++) {
  const candidates = cases.filter(({ name }) => !unsteady.has(name) && isOfManyWords(first.get(name) ?? []))
  for (const [name, next] of await round(kubeconfig, candidates)) {
    const found = differences(first.get(name) ?? [], next)
    if (found.length === 0) continue
    unsteady.add(name)
    console.log(`${name}, in round ${count}:\n${found.join('\n')}`)
  }
  console.error(`round ${count} of ${rounds}: ${candidates.length} cases`)
}
for (const session of sessions) await session.close()
console.log(`${cases.length} cases, ${rounds} rounds: ${unsteady.size} have varying responses.`)
process.exitCode = unsteady.size === 0 ? 0 : 1

/**
 * A new session per case, because a case may leave objects behind. Sessions are closed at the end, not concurrently.
 */
async function round(server: string, some: readonly Case[]): Promise<ReadonlyMap<string, readonly Recorded[]>> {
  const session = await Session.open([server])
  sessions.push(session)
  const answers = new Map<string, readonly Recorded[]>()
  for (const one of some) {
    const [recorded = []] = await session.run(one)
    answers.set(one.name, withoutRun(recorded))
  }
  return answers
}

/** Namespaces and groups have other names in each session. */
function withoutRun(recorded: readonly Recorded[]): readonly Recorded[] {
  return JSON.parse(JSON.stringify(recorded).replaceAll(/\bd[0-9a-f]{6}(-\d+)?\b/g, '<run>')) as readonly Recorded[]
}

/** Only where there is more than one thing to say can the order differ. */
function isOfManyWords(recorded: readonly Recorded[]): boolean {
  return recorded.some(({ status, seen }) => status >= 400 || JSON.stringify(seen).includes('"warning":'))
}
