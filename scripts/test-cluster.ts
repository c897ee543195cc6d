// npm run test:cluster: the tests on a real Kubernetes cluster, which is built once, started and stopped. A failed test
// is run once more, alone: if it passes then, it is listed as flaky and does not fail the run.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { failuresOf, hasPassed, patternOf } from './failed-tests.ts'
import { helpIfAsked } from './program-help.ts'
import { root, runStep } from './run.ts'

helpIfAsked({
  usage: 'npm run test:cluster [-- files...]',
  summary:
    'Run the tests on a real Kubernetes, which is built once from Go modules. A test that fails runs once more, alone.',
  arguments: [{ term: 'files', meaning: 'Run only the tests of these: arguments of vitest.' }],
  examples: [{ term: 'npm run test:cluster -- test/cluster/claims', meaning: 'Run the tests of claims.' }],
})
const args = process.argv.slice(2)
const folder = mkdtempSync(path.join(tmpdir(), 'tenure-cluster-tests-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const first = await cluster('cluster', args)
if (first.code !== 0) process.exit(await retry(first.report))

/** Runs tests; the report is missing if vitest did not get to write it. */
async function cluster(
  name: string,
  more: readonly string[],
): Promise<{ readonly code: number; readonly report: string | undefined }> {
  const file = path.join(folder, 'report.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const code = await runStep({ name, tool: 'vitest', args: ['run', '--project', 'cluster', ...reporters, ...more] })
  return { code, report: existsSync(file) ? readFileSync(file, 'utf8') : undefined }
}

/** The exit code of the run: zero if every failed test passes when it runs alone. */
async function retry(text: string | undefined): Promise<number> {
  const failures = text === undefined ? [] : failuresOf(text, root)
  if (failures.length === 0) return first.code
  process.env['TENURE_TEST_CLUSTERS'] = '1'
  const flaky: string[] = []
  for (const failure of failures) {
    const title = failure.test === undefined ? failure.file : `${failure.file} > ${failure.test}`
    const only = failure.test === undefined ? [] : ['--testNamePattern', patternOf(failure.test)]
    const alone = await cluster(`once more, alone: ${title}`, [failure.file, ...only])
    if (alone.code !== 0 || alone.report === undefined || !hasPassed(alone.report)) return first.code
    flaky.push(title)
  }
  console.log(`\nflaky (failed, then passed alone; fix the race):\n${flaky.map((title) => `  ${title}`).join('\n')}`)
  return 0
}
